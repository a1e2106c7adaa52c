//! Words that carry grammar rather than content: articles, pronouns, prepositions, auxiliaries, politeness.
//!
//! Linguistic lists, not counts of a corpus: a word's weight must not depend on skills that a caller cannot see.
//! The words stand here as the analysis folds them.

use std::sync::LazyLock;

use super::hash::TermHash;

const ENGLISH: &str = "\
a about above after again against all already also am an and any anything are aren as at be because been \
before being below between both but by can cannot cant could couldn d did didn do does doesn doesnt doing don \
done dont down during each either else etc every few for from further get gets getting give got had hadn has \
hasn have haven having he her here hers herself him himself his how i id if im in into is isn isnt it its \
itself ive just let lets ll m make may me might mine more most much must my myself need neither no nor not now \
of off on once one only onto or other our ours ourselves out over own per please re s same shall she should \
shouldn so some somebody someone something such t than that the their theirs them themselves then there these \
they thing things this those through to too under until up upon us ve very via want wants was wasn we were \
weren what whats when where whether which while who whom whose why will with within without won wont would \
wouldn yes yet you your yours yourself yourselves";

const GERMAN: &str = "\
aber alle allem allen aller alles also am an auch auf aus bei beim bin bis bist bitte da damit dann das dass \
dein deine deinem deinen deiner dem den denn der des dessen dich die dies diese diesem diesen dieser dieses \
dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure gegen habe haben hast hatte \
hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann \
kannst kein keine keinen konnen konnte man mein meine meinem meinen meiner mich mir mit mochte muss nach nicht \
noch nun nur ob oder ohne sein seine seinem seinen seiner sich sie sind so soll sollte uber um und uns unser \
unsere unter vom von vor waren warum was welche welchem welchen welcher welches wenn wer werden wie will wir \
wird wo wurde zu zum zur zwischen";

const FRENCH: &str = "\
a ai as au aux avec c ce ceci cela ces cet cette comme comment d dans de des donc du elle elles en est et etre \
eu il ils j je l la le les leur leurs lui ma mais me mes moi mon n ne nos notre nous on ont ou par pas peut \
peux pourquoi pouvez qu quand que quel quelle quelles quels qui quoi sa se ses si sont suis sur ta te tes toi \
tu un une veux vos votre vous y";

const SPANISH: &str = "\
a al algo como con cual cuando de del desde donde el ella ellas ellos en entre era es esa ese eso esta este \
esto favor fue ha han hay la las le les lo los mas me mi mis muy necesito ni no nos o para pero por porque \
puede puedes puedo que quien quiero se ser si sobre soy su sus tambien te tengo tiene tu tus un una uno unos y \
ya yo";

const ITALIAN: &str = "\
ai al alla alle allo che chi ci con cosa da dal dalla degli dei del della delle dello di e fa gli ha hai ho i \
il in io la le lei lo loro lui ma mi mia mio ne nel nella noi non o perche piu posso puoi quale quando quello \
questa questo se sei si sono su sua sul sulla suo ti tu tua tuo un una uno vi voglio voi vorrei";

const PORTUGUESE: &str = "\
a ao aos as ate com como da das de dos e ela ele eles em entre essa esse esta este eu foi ha isso isto ja lhe \
mais mas me meu meus minha na nao nas no nos nossa nosso o onde os ou para pela pelo pode por porque posso \
preciso qual quando que quem quero sao se sem ser seu seus sobre sua suas tambem te tem um uma voce vou";

const DUTCH: &str = "\
aan als bij dan dat de den der deze die dit door dus een en er het hij hoe hun ik in is je jij jouw kan kun \
kunnen maar me met mij mijn naar niet nog nu of om ons ook op over te tot uit van voor waar waarom wat we wel \
welke wie wij wil worden wordt zal ze zich zij zijn zo zou";

const RUSSIAN: &str = "\
а без бы был была были было быть в вам вас весь во вот все вы где да для до его ее если есть еще же за и из \
или им их к как какая какие какой ко когда который кто ли меня мне мог может можно мой моя мы на надо нам нас \
наш не него нее ней нет ни них но ну о об он она они оно от очень по под пожалуйста при про с свой себя со та \
так такой там те тебя тем то того тоже только том тот ты у уже хочу чем что чтобы чья эта эти это этот я";

const ARABIC: &str = "\
التي الذي الى ان انا انت او اين بعض بل تلك ثم ذلك على عن عند في قد كان كانت كل كيف لا لك لكن لم لماذا لن له \
لها لي ما ماذا متى مع من نحن هذا هذه هل هم هو هي و";

/// Chinese particles, pronouns, prepositions and modal verbs; Korean case endings.
const CHARACTERS: &str = "的了是在我你您他她它们这那有和与及或就也都把被给请帮吗呢吧啊呀嘛么个些想要能可以会让从到对为用着过得地之其于而并但如何什怎哪谁几很还再又才只所该将则因此由向往一下을를이가은는에의로도와과";

static WORDS: LazyLock<Vec<TermHash>> = LazyLock::new(|| {
    let lists = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH, RUSSIAN, ARABIC];
    let mut hashes: Vec<_> =
        lists.iter().flat_map(|list| list.split_whitespace()).map(TermHash::of).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
});

static FUNCTION_CHARS: LazyLock<Vec<char>> = LazyLock::new(|| {
    let mut chars: Vec<_> = CHARACTERS.chars().collect();
    chars.sort_unstable();
    chars
});

/// Whether a folded word is a function word of one of the listed languages.
pub(super) fn contains(word: TermHash) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// Whether a normalised word carries grammar rather than content, in any of the listed languages.
pub(crate) fn is_function_word(word: &str) -> bool {
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if !c.is_ascii() => is_function_char(c) || contains(TermHash::of(word)),
        _ => contains(TermHash::of(word)),
    }
}

/// Whether an ideograph or syllable mostly carries grammar.
pub(super) fn is_function_char(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}') || FUNCTION_CHARS.binary_search(&c).is_ok()
}
