import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'honeyTokens',
        table: 'honey_tokens',
        columns: 'id, token_id, placement, trip_count, last_trip_at, last_trip_ip, last_trip_user_agent, created_at',
        order: 'id',
        withheld: {
          last_alert_at: 'is about mail that this server sent',
          minute_began_at: 'counts trips of a minute',
          minute_count: 'counts trips of a minute',
          minute_addresses: 'counts trips of a minute',
        },
        notRestored: { label: 'placement', advice: 'Decoys, whose hashes stayed there; plant others' },
      },
    ],
    withheld: {},
  },
  notices: {
    'honey_token.tripped': ({ facts }) => ({
      type: 'honey_token_tripped',
      to: { adminsExcept: null },
      facts: { ...facts, placement: facts.placement ?? null },
    }),
  },
  usage: { honey_tokens: 'select count(*) from honey_tokens where org_id = $1' },
}
