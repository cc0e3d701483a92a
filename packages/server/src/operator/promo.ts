import { promoCodePattern } from '@skerry/contract/patterns'
import type { Command } from 'commander'
import { addPromo, promosOf, removePromo } from '../features/billing/operating.ts'
import { findPaidPlan } from '../features/billing/standing.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'
import { countOf, untilOf } from './given.ts'

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('list')
    .description('All codes, and how often each was redeemed, as JSON')
    .action(() => withDatabase(list))
  command
    .command('add')
    .argument('<code>', 'letters, digits and hyphens')
    .argument('<family>')
    .argument('<plan>')
    .option('--days <number>', 'how long the plan holds; without an end unless given')
    .option('--uses <number>', 'how many organizations may redeem it; any number unless given')
    .option('--until <instant>', 'RFC 3339: when it can be redeemed no longer')
    .description('Make a code that gives a plan')
    .action((code: string, family: string, plan: string, options: Options) =>
      withDatabase((operation) => add(operation, { code, family, plan, ...options })),
    )
  command
    .command('rm')
    .argument('<code>')
    .description('Take a code away; who has redeemed it keeps the plan')
    .action((code: string) => withDatabase((operation) => remove(operation, code)))
}

interface Options {
  days?: string
  uses?: string
  until?: string
}

async function list({ db, print }: Operation): Promise<void> {
  print(JSON.stringify({ promos: await promosOf(db) }, null, 2))
}

const daysMax = 36_500
const usesMaxMax = 1_000_000

async function add(
  { db, print }: Operation,
  { code: given, family, plan, days, uses, until }: Options & { code: string; family: string; plan: string },
): Promise<void> {
  const code = given.toUpperCase()
  if (!new RegExp(promoCodePattern).test(code)) throw new Refused('A code has 4 to 64 letters, digits and hyphens.')
  const found = findPaidPlan(family, plan)
  if (!found) throw new Refused(`There is no plan ${family} ${plan} above the free one.`)
  const promo = {
    code,
    family: found.family,
    plan,
    days: countOf('--days', days, daysMax),
    usesMax: countOf('--uses', uses, usesMaxMax),
    expiresAt: untilOf(until),
  }
  if (!(await addPromo(db, promo))) throw new Refused(`There is a code ${code} already.`)
  print(`${code} gives ${found.name}.`)
}

async function remove({ db, print }: Operation, code: string): Promise<void> {
  if (!(await removePromo(db, code.toUpperCase()))) throw new Refused(`There is no code ${code.toUpperCase()}.`)
  print(`${code.toUpperCase()} can be redeemed no longer.`)
}
