//! Names are found in the script that they are written in, however that is typed, and requests in the language of the skill.

use repertoire::{Catalog, Filter, Layer, Look, Narrowing};

use crate::support::{knowledge, open, put};

/// A skill: id, name, alias, description.
const SKILLS: [[&str; 4]; 8] = [
    ["zh", "打开相机", "拍照", "用手机拍一张照片。"],
    ["ja", "カメラを開く", "写真を撮る", "スマートフォンで写真を撮影します。"],
    ["ko", "카메라 열기", "사진 찍기", "휴대폰으로 사진을 찍습니다."],
    ["de", "Straßenkarte öffnen", "Landkarte", "Zeigt die Straßen einer Stadt auf der Karte."],
    ["ar", "فتح الكاميرا", "التقاط صورة", "يفتح الكاميرا لالتقاط صورة."],
    ["ru", "Открыть камеру", "Сделать снимок", "Открывает камеру и делает снимок."],
    ["wifi", "Wi-Fi settings", "WiFi 设置", "Join a wireless network."],
    ["cafe", "Café finder", "Crème brûlée", "Finds a café nearby."],
];

fn filled() -> (tempfile::TempDir, Catalog) {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let entries: Vec<_> = SKILLS
        .iter()
        .map(|[id, name, alias, description]| {
            let mut entry = knowledge(id, description);
            (*name).clone_into(&mut entry.skill.name);
            entry.skill.aliases = vec![(*alias).to_owned()];
            entry
        })
        .collect();
    put(&catalog, Layer::Local, &entries);
    (dir, catalog)
}

#[track_caller]
fn check(rows: &[(&str, &str)], ask: impl Fn(&Look, &str) -> Vec<String>) {
    let (_dir, catalog) = filled();
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    for (text, expect) in rows {
        let found = ask(&pin, text);
        assert_eq!(found.first().map(String::as_str), Some(*expect), "{text}: {found:?}");
    }
}

#[test]
fn names_and_aliases_are_looked_up_in_every_spelling() {
    let rows = [
        ("打开相机", "zh"),
        (" 打开 相机！", "zh-none"),
        ("拍照", "zh"),
        ("カメラを開く", "ja"),
        // Half-width kana, as old keyboards write them.
        ("ｶﾒﾗを開く", "ja"),
        ("카메라 열기", "ko"),
        // The same syllables as single letters.
        ("카메라 열기", "ko"),
        ("STRASSENKARTE ÖFFNEN", "de"),
        ("strassenkarte o\u{308}ffnen", "de"),
        ("فتح الكاميرا", "ar"),
        ("ОТКРЫТЬ  КАМЕРУ", "ru"),
        ("Ｗｉ－Ｆｉ　ｓｅｔｔｉｎｇｓ", "wifi"),
        ("ｗｉｆｉ 设置", "wifi"),
        ("Cafe\u{301} Finder", "cafe"),
        ("CREME\u{300} BRU\u{302}LE\u{301}E", "cafe-none"),
        ("Cre\u{300}me bru\u{302}le\u{301}e", "cafe"),
    ];
    let (right, wrong): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, id)| !id.ends_with("-none"));
    check(&right, |look, text| {
        look.lookup(text).unwrap().iter().map(|skill| skill.id().to_owned()).collect()
    });
    let (_dir, catalog) = filled();
    let mut view = catalog.view(Narrowing::default());
    for (text, _) in wrong {
        assert!(view.pin().unwrap().lookup(text).unwrap().is_empty(), "{text} is another name");
    }
}

#[test]
fn beginnings_and_typing_errors_lead_to_names_in_every_script() {
    let beginnings = [
        ("打开", "zh"),
        ("カメ", "ja"),
        ("사진", "ko"),
        ("strasse", "de"),
        ("فتح", "ar"),
        ("Откр", "ru"),
        ("ｗｉ", "wifi"),
        ("caf\u{e9}", "cafe"),
    ];
    check(&beginnings, |look, text| {
        look.prefix(text, 3).unwrap().iter().map(|skill| skill.id().to_owned()).collect()
    });
    let errors = [
        ("打开相几", "zh"),
        ("カメラを聞く", "ja"),
        ("카메라 얼기", "ko"),
        ("strasenkarte offnen", "de"),
        ("فتح الكامرا", "ar"),
        ("открыт камеру", "ru"),
        ("wi fi setings", "wifi"),
        ("cafe finder", "cafe"),
    ];
    check(&errors, |look, text| {
        look.fuzzy(text, 3).unwrap().iter().map(|skill| skill.id().to_owned()).collect()
    });
}

#[test]
fn requests_find_the_skill_of_their_language() {
    let rows = [
        ("帮我拍张照片", "zh"),
        ("相机", "zh"),
        ("スマートフォンで撮影したい", "ja"),
        ("카메라로 사진을 찍고 싶어", "ko"),
        ("karten der strasse", "de"),
        ("الكاميرا", "ar"),
        // With points that most people leave out.
        ("صُورَة", "ar"),
        ("камера", "ru"),
        ("снимки", "ru"),
        ("ＷＩＲＥＬＥＳＳ　ｎｅｔｗｏｒｋ", "wifi"),
        ("creme brulee", "cafe"),
        ("cafe", "cafe"),
    ];
    check(&rows, |look, text| {
        let page = look.search(text, &Filter::default(), 3).unwrap();
        page.hits.iter().map(|hit| hit.skill.id().to_owned()).collect()
    });
}

#[test]
fn a_phrase_in_a_request_is_matched_where_a_script_writes_no_spaces_too() {
    let rows = [
        ("请帮我拍照好吗", "zh"),
        ("きれいな写真を撮るアプリ", "ja"),
        ("지금 사진 찍기", "ko"),
        ("zeig mir die Landkarte bitte", "de"),
        ("أريد التقاط صورة الآن", "ar"),
        ("пожалуйста сделать снимок", "ru"),
        ("打开ｗｉｆｉ　设置", "wifi"),
    ];
    check(&rows, |look, text| {
        look.match_request(text).unwrap().skill.iter().map(|skill| skill.id().to_owned()).collect()
    });
}
