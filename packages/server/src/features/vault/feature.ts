import type { Descriptor } from '../descriptor.ts'
import { jobs as connectJobs } from './connect/jobs.ts'
import { routes as connect } from './connect/routes.ts'
import { routes as executor } from './executor/routes.ts'
import { routes as platform } from './platform/routes.ts'
import { routes as projects } from './projects/routes.ts'
import { routes as users } from './users/routes.ts'
import { subscribers, jobs as webhookJobs } from './webhooks/jobs.ts'
import { routes as webhooks } from './webhooks/routes.ts'

export const feature: Descriptor = {
  routes: [...projects, ...users, ...webhooks, ...platform, ...connect, ...executor],
  jobs: [...connectJobs, ...webhookJobs],
  subscribers,
}
