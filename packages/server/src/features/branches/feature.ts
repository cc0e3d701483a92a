import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: { nothing: 'a branch is an environment' },
  usage: {
    branches: `select count(*) from environments where org_id = $1 and parent_environment_id is not null
                  and (expires_at is null or expires_at > $2)`,
  },
}
