/** Of pages that the command palette opens together with the dialog that makes something. */
export interface Beginning {
  begin?: true
}

export const beginning = (search: Record<string, unknown>): Beginning =>
  search.begin === true || search.begin === 'true' ? { begin: true } : {}
