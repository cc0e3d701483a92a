import { families, features, findPlan, type Metric, metrics } from '@skerry/contract/billing/plans'
import { displayNamePattern } from '@skerry/contract/patterns'
import type { Command } from 'commander'
import { assignPlan, plansOf, setOverride, unsetOverride } from '../features/billing/operating.ts'
import { keyOf } from '../features/billing/standing.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'
import { orgOf, untilOf } from './given.ts'
import { register as registerPromo } from './promo.ts'

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('show')
    .argument('<org>', 'id or slug of the organization')
    .description('Its plans and overrides, as JSON')
    .action((org: string) => withDatabase((operation) => show(operation, org)))
  command
    .command('assign')
    .argument('<org>', 'id or slug of the organization')
    .argument('<family>', families.join(' or '))
    .argument('<plan>', 'free takes away what was assigned')
    .option('--until <instant>', 'RFC 3339; without an end unless given')
    .description('Give it a plan')
    .action((org: string, family: string, plan: string, { until }: { until?: string }) =>
      withDatabase((operation) => assign(operation, org, { family, plan, until })),
    )
  command
    .command('set')
    .argument('<org>', 'id or slug of the organization')
    .argument('<key>', 'a metric, or feature.<name>')
    .argument('<value>', 'a number or unlimited; for a feature yes or no')
    .requiredOption('--reason <text>', 'shown to its members')
    .description('Let it have another amount than its plan includes')
    .action((org: string, key: string, value: string, { reason }: { reason: string }) =>
      withDatabase((operation) => set(operation, org, { key, value, reason })),
    )
  command
    .command('unset')
    .argument('<org>', 'id or slug of the organization')
    .argument('<key>')
    .description('Let it have what its plan includes again')
    .action((org: string, key: string) => withDatabase((operation) => unset(operation, org, key)))
  registerPromo(command.command('promo').description('Codes that organizations redeem'), withDatabase)
}

async function show({ db, print }: Operation, given: string): Promise<void> {
  print(JSON.stringify(await plansOf(db, await orgOf(db, given)), null, 2))
}

async function assign(
  { db, print }: Operation,
  given: string,
  { family, plan, until }: { family: string; plan: string; until: string | undefined },
): Promise<void> {
  const found = findPlan(family, plan)
  if (!found) throw new Refused(`There is no plan ${family} ${plan}.`)
  const org = await orgOf(db, given)
  await assignPlan(db, org, { family: found.family, plan, endsAt: untilOf(until) })
  print(`${found.name} is assigned to ${given}.`)
}

interface NewOverride {
  key: string
  value: string
  reason: string
}

async function set({ db, print }: Operation, given: string, { key, value: text, reason }: NewOverride): Promise<void> {
  const value = overrideOf(key, text)
  if (!new RegExp(displayNamePattern).test(reason)) throw new Refused('Give the reason as one line of text.')
  const org = await orgOf(db, given)
  await setOverride(db, org, { key, value, reason })
  print(`${key} of ${given} is ${text}, whatever its plan says.`)
}

async function unset({ db, print }: Operation, given: string, key: string): Promise<void> {
  const org = await orgOf(db, given)
  if (!(await unsetOverride(db, org, key))) throw new Refused(`${given} has no override of ${key}.`)
  print(`${key} of ${given} is what its plan says.`)
}

const amountMax = 2_147_483_647

function overrideOf(key: string, text: string): number | boolean | null {
  if (Object.keys(features).some((name) => keyOf(name as keyof typeof features) === key)) {
    if (text === 'yes' || text === 'no') return text === 'yes'
    throw new Refused(`The value of ${key} is yes or no.`)
  }
  if (!Object.hasOwn(metrics, key))
    throw new Refused(`There is no metric or feature ${key}. Metrics: ${Object.keys(metrics).join(', ')}.`)
  if (text === 'unlimited') return null
  if (/^\d{1,10}$/.test(text) && Number(text) <= amountMax) return Number(text)
  throw new Refused(`The value of ${key as Metric} is a whole number up to ${amountMax}, or unlimited.`)
}
