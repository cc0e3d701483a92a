import type { Answer } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs'
import { invalidate } from '../queries.ts'

export type Grantee = Answer<typeof envs.grantees>['grantees'][number]

export const reloadGrants = (orgId: string, envId: string) => invalidate({ queryKey: ['orgs', orgId, 'envs', envId] })
