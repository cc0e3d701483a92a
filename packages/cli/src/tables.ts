import { shownTime } from './times.ts'
// Rows that several commands print.

export const environmentHeader = ['slug', 'name', 'readable', 'id']

export function environmentCells(row: { slug: string; name: string; canDecrypt: boolean; id: string }): string[] {
  return [row.slug, row.name, row.canDecrypt ? 'yes' : 'no', row.id]
}

export const branchHeader = ['slug', 'name', 'expires', 'id']

export function branchCells(row: { slug: string; name: string; expiresAt: string | null; id: string }): string[] {
  return [row.slug, row.name, shownTime(row.expiresAt), row.id]
}
