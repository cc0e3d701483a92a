/** The search parameters of a page that can open with its "create" dialog: `?create=true`. */
export interface CreateSearch {
  create?: true
}

export const parseCreateSearch = (search: Record<string, unknown>): CreateSearch =>
  search.create === true || search.create === 'true' ? { create: true } : {}
