import type { Answer } from '@skerry/contract/endpoint'
import type { orgs } from '@skerry/contract/orgs'
import type { Checked } from '../envs/pins.ts'

export type Member = Answer<typeof orgs.members>['members'][number]

export const nameOfMember = ({ name, email, userId }: Member): string => name ?? email ?? userId

/** What is asked about a member. */
export interface Asking {
  kind: 'role' | 'compare' | 'remove' | 'leave'
  member: Member
  checked: Checked | undefined
}
