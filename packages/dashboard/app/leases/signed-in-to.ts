import type { LeaseTarget } from './queries.ts'

/** Describes the result of a target's check. A provisioner that is offline checks it later. */
export function signedInTo({ name, status, lastError }: LeaseTarget): string {
  if (lastError !== null) return `${name} cannot be signed in to: ${lastError}`
  if (status === 'ready') return `${name} can be signed in to.`
  return `The provisioner of ${name} has not signed in to it yet. Is it running?`
}
