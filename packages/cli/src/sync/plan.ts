import type { SyncPlan } from '@skerry/sdk/internal/sync'
import { note, writeLine } from '../output.ts'

/** The effects of a run, one line for each name. */
const planLines = (plan: SyncPlan): string[] => [
  ...plan.create.map((name) => `+ ${name}`),
  ...plan.update.map((name) => `~ ${name}`),
  ...plan.delete.map((name) => `- ${name}`),
  ...plan.foreign.map((name) => `! ${name}: is there already and is left alone, unless it is adopted`),
  ...plan.refused.map(({ name, reason }) => `! ${name}: ${reason}`),
]

const count = (number: number, noun: string) => `${number} ${noun}`

const planSummary = (plan: SyncPlan): string =>
  [
    count(plan.create.length, 'to create'),
    count(plan.update.length, 'to change'),
    count(plan.delete.length, 'to delete'),
    count(plan.unchanged.length, 'unchanged'),
    count(plan.foreign.length + plan.refused.length, 'left out'),
  ].join(', ')

/** Shows a plan to the person who is about to decide on it. */
export function tellPlan(plan: SyncPlan): void {
  for (const line of planLines(plan)) note(line)
  note(planSummary(plan))
  for (const effect of plan.effects) note(effect)
}

/** Writes a plan for a caller who asked for nothing else. */
export function writePlan(plan: SyncPlan): void {
  for (const line of planLines(plan)) writeLine(line)
  note(planSummary(plan))
  for (const effect of plan.effects) note(effect)
}
