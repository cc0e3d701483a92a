/**
 * Carries why a change is proposed. Header values are bytes, so clients send percent-encoded UTF-8
 * (`encodeURIComponent`); a value without valid escapes is taken as it is. Ignored where nothing is queued.
 */
export const changeNoteHeader = 'x-skerry-change-note'
