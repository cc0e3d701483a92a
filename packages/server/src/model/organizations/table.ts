// The table `organizations`. Only write.ts changes its rows.

export interface StoredOrg {
  id: string
  name: string
  slug: string
  createdAt: string
  updatedAt: string
}
