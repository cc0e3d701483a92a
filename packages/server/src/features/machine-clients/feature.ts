import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'machineClients',
        table: 'machine_clients',
        columns: 'id, name, created_by_type, created_by_id, created_at, revoked_at',
        order: 'id',
        withheld: { secret_hash: 'a hash that signs somebody in' },
        notRestored: { label: 'name', advice: 'Machine clients, whose secrets stayed there; make others' },
      },
    ],
    withheld: { machine_client_uses: 'notes of use' },
  },
  auditNames: 'select id, name from machine_clients where org_id = $1',
}
