import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'directoryRoots',
        table: 'directory_roots',
        columns: 'version, hash, text, created_at',
        order: 'version',
      },
      {
        name: 'directoryHeads',
        table: 'directory_heads',
        columns: 'version, hash, root_version, text, count, entries, created_at',
        order: 'version',
      },
      {
        name: 'directoryEntries',
        table: 'directory_entries',
        columns: 'key, from_head, to_head, text',
        order: 'key, from_head',
      },
      { name: 'directoryReaders', table: 'directory_readers', columns: 'hash, readers', order: 'hash' },
    ],
    withheld: {},
  },
}
