//! The hash of ids and keys: 128 bits, fixed for ever, no seed.
//!
//! Two lanes take 16 bytes at a time. Each lane multiplies 64 by 64 bits and folds the 128-bit product by exclusive
//! or; the old value of the *other* lane is added, so that a block which happens to multiply by zero in one lane
//! still leaves its trace in the other. It is fast and spreads well; it is no cryptographic hash, which is why ids
//! and keys are compared as text after it.

use crate::index::le::{high, low};

/// Digits of pi after the point: numbers with nothing up the sleeve.
const PI: [u64; 8] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
];

/// Bytes that one round takes.
const BLOCK: usize = 16;

/// The hash of some bytes. Cost: about 4 ns for 20 bytes, 16 bytes for each further nanosecond and a half.
#[inline]
pub(crate) fn hash128(bytes: &[u8]) -> u128 {
    let len = bytes.len() as u64;
    let mut lanes = (PI[0] ^ len, PI[1].wrapping_add(len.wrapping_mul(PI[3])));
    if let Some(tail) = bytes.last_chunk::<BLOCK>() {
        // The last block always ends at the end and may overlap the one before: no byte-wise rest.
        let full = (bytes.len() - 1) / BLOCK;
        for block in bytes.as_chunks::<BLOCK>().0.iter().take(full) {
            lanes = absorb(lanes, halves(block));
        }
        lanes = absorb(lanes, halves(tail));
    } else {
        lanes = absorb(lanes, short(bytes));
    }
    finish(lanes)
}

/// The first 64 bits of [`hash128`]: its lower half.
#[cfg(test)]
#[inline]
pub(crate) fn hash64(bytes: &[u8]) -> u64 {
    low(hash128(bytes))
}

/// The 128-bit product, its halves folded by exclusive or.
#[inline]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    low(product) ^ high(product)
}

#[inline]
const fn absorb(lanes: (u64, u64), block: (u64, u64)) -> (u64, u64) {
    let first = fold(block.0 ^ lanes.0, block.1 ^ PI[2]);
    let second = fold(block.1 ^ lanes.1, block.0 ^ PI[3]);
    (first.wrapping_add(lanes.1), second.wrapping_add(lanes.0))
}

#[inline]
const fn finish((x, y): (u64, u64)) -> u128 {
    let lower = fold(x ^ PI[4], y ^ PI[5]).wrapping_add(x);
    let upper = fold(y ^ PI[6], x.rotate_left(32) ^ PI[7]).wrapping_add(y);
    ((upper as u128) << 64) | lower as u128
}

#[inline]
fn halves(block: &[u8; BLOCK]) -> (u64, u64) {
    let whole = u128::from_le_bytes(*block);
    (low(whole), high(whole))
}

/// Fewer than 16 bytes as two numbers; the length, which is hashed too, tells equal pairs apart.
#[inline]
fn short(bytes: &[u8]) -> (u64, u64) {
    if let (Some(a), Some(b)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (u64::from_le_bytes(*a), u64::from_le_bytes(*b))
    } else if let (Some(a), Some(b)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*a)), u64::from(u32::from_le_bytes(*b)))
    } else {
        match bytes {
            [a] => (u64::from(*a), 0),
            [a, b] => (u64::from(*a), u64::from(*b)),
            [a, b, c] => (u64::from(*a), u64::from(u16::from_le_bytes([*b, *c]))),
            _ => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{hash64, hash128};
    use crate::index::le::{high, low};
    use std::collections::HashSet;

    /// A small generator of test data: `splitmix64`.
    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[test]
    fn every_input_bit_moves_half_of_the_output_bits() {
        let mut state = 1;
        for len in [1_usize, 3, 4, 7, 8, 13, 16, 17, 20, 31, 32, 33, 64] {
            let rounds = 1200_usize;
            for byte in 0..len {
                for bit in 0..8 {
                    let mut flips = [0_u32; 128];
                    for _ in 0..rounds / 8 + 64 {
                        let mut key: Vec<u8> = (0..len).map(|_| next(&mut state).to_le_bytes()[0]).collect();
                        let before = hash128(&key);
                        key[byte] ^= 1 << bit;
                        let moved = before ^ hash128(&key);
                        for (i, flip) in flips.iter_mut().enumerate() {
                            *flip += u32::from((moved >> i) & 1 == 1);
                        }
                    }
                    let n = f64::from(u32::try_from(rounds / 8 + 64).unwrap());
                    // Six and a half standard deviations of a fair coin: over all tests one in a million runs fails.
                    let bound = 6.5 * (n / 4.0).sqrt();
                    for (i, flip) in flips.iter().enumerate() {
                        let off = (f64::from(*flip) - n / 2.0).abs();
                        assert!(off < bound, "len {len} byte {byte} bit {bit} -> bit {i}: {flip} of {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn similar_ids_fill_buckets_evenly_and_never_collide() {
        let families: [fn(u32) -> Vec<u8>; 5] = [
            |i| format!("skill-{i:06}").into_bytes(),
            |i| format!("com.example.app{}.open-settings-page-{}", i % 977, i / 977).into_bytes(),
            |i| i.to_le_bytes().to_vec(),
            |i| (u64::from(i) << 40).to_be_bytes().repeat(3),
            |i| vec![b'a'; i as usize % 300].into_iter().chain(i.to_string().into_bytes()).collect(),
        ];
        for (family, make) in families.iter().enumerate() {
            let n = 1_u32 << 16;
            let (mut lower, mut upper) = (HashSet::new(), HashSet::new());
            let mut counts = vec![[0_u32; 4]; 1 << 10];
            for i in 0..n {
                let hash = hash128(&make(i));
                assert!(lower.insert(low(hash)), "family {family}: lower halves collide");
                assert!(upper.insert(high(hash)), "family {family}: upper halves collide");
                for (k, shift) in [0, 54, 64, 118].into_iter().enumerate() {
                    counts[(hash >> shift) as usize & 1023][k] += 1;
                }
            }
            let expected = f64::from(n) / 1024.0;
            for k in 0..4 {
                let chi: f64 = counts.iter().map(|c| (f64::from(c[k]) - expected).powi(2) / expected).sum();
                // 1,023 degrees of freedom: mean 1,023, standard deviation 45.
                assert!((750.0..1300.0).contains(&chi), "family {family}, window {k}: chi square {chi}");
            }
        }
    }

    #[test]
    fn sparse_keys_do_not_collide() {
        for len in [8_usize, 16, 24, 40] {
            let mut seen = HashSet::new();
            let bits = len * 8;
            for i in 0..bits {
                for j in i..bits {
                    let mut key = vec![0_u8; len];
                    key[i / 8] |= 1 << (i % 8);
                    key[j / 8] |= 1 << (j % 8);
                    assert!(seen.insert(hash64(&key)), "len {len}: bits {i} and {j}");
                }
            }
        }
    }

    /// The table of `docs/format.md`, computed there by another program: bytes of every branch.
    const VECTORS: [(&str, u128); 14] = [
        ("", 0x6718_74ef_96ac_2b87_14dd_4721_151f_ceb8),
        ("a", 0x3cde_4ad9_b0db_0199_c161_9f2d_84f1_1998),
        ("ab", 0x68c1_18f1_9ed0_d327_74a9_764e_56dc_c106),
        ("abc", 0xa59b_e930_149e_ce52_dbd3_cf28_b85f_c118),
        ("abcd", 0xbbf9_70c7_beab_f946_658b_1306_3771_b535),
        ("wifi-on", 0x9f25_f58e_4383_ff76_045b_799b_1714_5aa7),
        ("12345678", 0x1602_a61a_99da_1bc0_9fa6_55c0_a8d6_f31b),
        ("open-settings", 0x9066_423b_ad07_f576_8df4_10d8_29e2_5fda),
        ("0123456789abcdef", 0xbe3b_bd67_4a39_d200_4ad5_c325_0183_6f35),
        ("0123456789abcdefg", 0x60c1_be94_5df3_c0e5_8e3d_c405_ac62_e485),
        ("com.example.maps.route-home", 0x43af_5f80_9d86_452e_93f5_27ef_295f_09d1),
        ("打开设置", 0x7bdc_3259_ce93_9241_fa37_857f_b50b_ae70),
        ("0123456789abcdef0123456789abcdef", 0xd301_89d7_2442_0c77_f45b_33aa_e844_3323),
        ("0123456789abcdef0123456789abcdef0", 0xda05_d959_dc96_5485_335e_7e62_3e11_3cf9),
    ];

    #[test]
    fn the_hash_never_changes() {
        for (text, expected) in VECTORS {
            assert_eq!(hash128(text.as_bytes()), expected, "{text:?}");
            assert_eq!(hash64(text.as_bytes()), low(expected));
        }
    }

    #[test]
    fn zeros_of_each_length_differ() {
        let zeros = [0_u8; 300];
        let all: HashSet<u128> = (0..=300).map(|n| hash128(&zeros[..n])).collect();
        assert_eq!(all.len(), 301);
    }
}
