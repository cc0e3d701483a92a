// The forms of names and texts, as regular expressions for JSON Schema. No schema library here: browsers and the CLI
// need a form long before they need a schema.

/** A slug without anchors, for patterns that hold one: `shared:production`. */
export const slugForm = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** A slug never changes: composition, resolve and committed client settings match on it. */
export const slugPattern = `^${slugForm}$`

/** Terminals print it as it is, so it holds no control characters; some terminals obey U+0080 to U+009F, too. */
export const displayNamePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]+$'

/** What people write to each other; lines may break. */
export const freeTextPattern = '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$'

/** The name of an environment variable. */
export const secretNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'

/** None of the characters that separate addresses in a mail header, so that one address is never read as several. */
const emailCharacters = '[^\\s@<>()\\[\\],;:\\\\"\\u0000-\\u001f\\u007f-\\u009f]+'
export const emailPattern = `^${emailCharacters}@${emailCharacters}\\.${emailCharacters}$`

/** Of a header that Skerry sends along: a token of RFC 9110, and what is printable in ASCII. */
export const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
export const headerValuePattern = '^[\\u0020-\\u007e]*$'

/** Of a promo code, as it is kept: letters are taken in either case. */
export const promoCodePattern = '^[A-Z0-9][A-Z0-9-]{3,63}$'

/** Short enough to read out: `WDJB-MJHT`, without vowels and look-alikes. */
export const cliLoginCodePattern = '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$'

/** An instant as Skerry stores and answers it: UTC with milliseconds. The pattern does not check whether the day exists. */
export const instantPattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$'

/** RFC 3339 section 5.6, without leap seconds, which clocks of computers do not have. The pattern does not check whether the day exists. */
export const givenInstantPattern =
  '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])[Tt](?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d{1,9})?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$'
