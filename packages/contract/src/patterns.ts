// The patterns of names and texts, as regular expressions for JSON Schema. This module imports no schema library,
// because browsers and the CLI need a pattern long before they need a schema.

/** A slug without anchors, for longer patterns such as `shared:production`. */
export const slugForm = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** A slug. It never changes, because composition, resolve and committed client settings match on it. */
export const slugPattern = `^${slugForm}$`

/** A name. Terminals print it unchanged, so it has no control characters. Some terminals obey U+0080 to U+009F, too. */
export const displayNamePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]+$'

/** Text that people write to each other. It may have line breaks. */
export const freeTextPattern = '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$'

/** The name of an environment variable. */
export const secretNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'

/** Excludes the characters that separate addresses in a mail header, so that one address is never read as several. */
const emailCharacters = '[^\\s@<>()\\[\\],;:\\\\"\\u0000-\\u001f\\u007f-\\u009f]+'
export const emailPattern = `^${emailCharacters}@${emailCharacters}\\.${emailCharacters}$`

/**
 * A custom header for requests that Skerry sends. The name is a token of RFC 9110, and the value is printable ASCII.
 */
export const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
export const headerValuePattern = '^[\\u0020-\\u007e]*$'

/** A promo code as stored. People may enter it in either case. */
export const promoCodePattern = '^[A-Z0-9][A-Z0-9-]{3,63}$'

/** Short enough to read out: `WDJB-MJHT`, without vowels and look-alikes. */
export const cliLoginCodePattern = '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$'

/** An instant as Skerry stores and answers it: UTC with milliseconds. The pattern does not check whether the day exists. */
export const instantPattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$'

/**
 * RFC 3339 section 5.6, without leap seconds, which computer clocks do not have. The pattern does not check whether the
 * day exists.
 */
export const givenInstantPattern =
  '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])[Tt](?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d{1,9})?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$'
