export type Filter = 'all' | 'missing' | 'different' | 'same' | 'production' | 'broken'

/** The filters of a matrix, with their labels. */
export const filters: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'missing', label: 'Missing' },
  { value: 'different', label: 'Differs' },
  { value: 'same', label: 'Same' },
  { value: 'production', label: 'Shared with production' },
  { value: 'broken', label: 'Broken' },
]
