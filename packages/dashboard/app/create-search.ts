/** The search of a page that can be opened together with its dialog for creating something: `?create=true`. */
export interface CreateSearch {
  create?: true
}

export const parseCreateSearch = (search: Record<string, unknown>): CreateSearch =>
  search.create === true || search.create === 'true' ? { create: true } : {}
