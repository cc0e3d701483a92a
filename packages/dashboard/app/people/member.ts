import type { Answer } from '@skerry/contract/endpoint'
import type { orgs } from '@skerry/contract/orgs/endpoints'
import type { Checked } from '../envs/pins.ts'

export type Member = Answer<typeof orgs.members>['members'][number]

export const nameOfMember = ({ name, email, userId }: Member): string => name ?? email ?? userId

/** The address of a member whom the person chose, for a request with the id. A signer's browser compares both. */
export const typedHolder = ({ email }: Member): { typed: { holder?: string } } => ({
  typed: email === null ? {} : { holder: email },
})

/** The open dialog and its member. */
export interface OpenDialog {
  kind: 'role' | 'compare' | 'pass-on' | 'remove' | 'offboard' | 'leave'
  member: Member
  checked: Checked | undefined
}
