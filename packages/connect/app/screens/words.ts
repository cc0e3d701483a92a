import { Refused, Unreachable } from '../request.ts'

/** The error text for a screen that stays, so that the person can try again. */
export function problemOf(error: unknown): string {
  if (error instanceof Unreachable && error.origin !== location.origin)
    return 'The service that keeps your account is not answering. Please try again in a minute.'
  if (error instanceof Unreachable) return 'There is no connection. Please check whether you are online, and try again.'
  if (error instanceof Refused && error.status === 429) return 'Too many tries. Please wait a minute, and try again.'
  return 'That did not work. Please try again; if it happens again, ask the app for a new link.'
}

export const timeOf = (instant: string): string =>
  new Date(instant).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })

export const dayOf = (instant: string): string =>
  new Date(instant).toLocaleDateString(undefined, { dateStyle: 'medium' })

export const hostOf = (origin: string): string => new URL(origin).host
