/**
 * The header with the reason for a proposed change. Header values are bytes, so clients send percent-encoded UTF-8
 * (`encodeURIComponent`). A value without valid escapes is used unchanged. The header is ignored if nothing is queued.
 */
export const changeNoteHeader = 'x-skerry-change-note'
