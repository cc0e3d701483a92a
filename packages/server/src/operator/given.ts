import { givenInstantPattern } from '@skerry/contract/patterns'
import { storedInstant } from '../kernel/instant.ts'
import { type Operation, Refused } from './database.ts'

// Parsers for the values of a command line. They refuse an invalid value with the name of its option.

export async function orgOf(db: Operation['db'], given: string): Promise<{ id: string }> {
  const org = await db.row<{ id: string }>('select id from organizations where id = $1 or slug = $1', [given])
  if (!org) throw new Refused(`There is no organization ${given}.`)
  return org
}

export function untilOf(given: string | undefined): string | null {
  if (given === undefined) return null
  const until = new RegExp(givenInstantPattern).test(given) ? storedInstant(given) : null
  if (until === null || until <= new Date().toISOString())
    throw new Refused('--until is an instant of the future, such as 2030-01-01T00:00:00Z.')
  return until
}

export function countOf(name: string, given: string | undefined, max: number): number | null {
  if (given === undefined) return null
  if (!/^[1-9]\d{0,6}$/.test(given) || Number(given) > max)
    throw new Refused(`${name} is a whole number from 1 to ${max}.`)
  return Number(given)
}
