import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'logSinks',
        table: 'log_sinks',
        columns: 'endpoint, enabled, header_names, created_at, updated_at',
        order: 'org_id',
        withheld: {
          sealed_headers: 'credentials that this server can open',
          position: 'is what this server sent',
          rejected: 'is what this server sent',
          tries: 'is what this server sent',
          due_at: 'is what this server sent',
          last_attempt_at: 'is what this server sent',
          last_success_at: 'is what this server sent',
          last_error: 'is what this server sent',
        },
        notRestored: { label: 'endpoint', advice: 'The log sink, whose headers stayed there; set it again' },
      },
    ],
    withheld: {},
  },
  notices: {
    'log_sink.disabled': ({ facts }) => ({ type: 'log_sink_disabled', to: { adminsExcept: null }, facts }),
  },
}
