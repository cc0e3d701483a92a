import { createSkerry } from '@skerry/sdk'
import { memoryCache } from '@skerry/sdk/cache'
import { processMemory } from '@skerry/sdk/internal/directory/memory'
import { createKnownState } from '@skerry/sdk/known-state'
import { fillMemory, honestValues, names, type Open, tokenOf } from './client.ts'
import { outcomeOf } from './outcome.ts'

/** A program with the SDK, which asks again while it runs. */
export const sdk: Open = async (stage, attack, situation) => {
  const { liar, token } = stage
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  // A program keeps both memories for as long as it runs.
  const directories = processMemory()
  const knownState = createKnownState({
    store: memoryCache(),
    baseUrl: liar.url,
    principalId: token.id,
    onChanged: (changes) => warn(`${changes.length} layers or names are new`),
    onGone: (label, gone) => warn(`${gone.join(', ')} of ${label} is missing`),
  })
  const given = await tokenOf(stage, attack, situation)
  const read = async (clockDays = 0) => {
    const { values } = await createSkerry({
      baseUrl: liar.url,
      token: given,
      ...(attack.act === 'branch' ? { branch: 'pr-1' } : {}),
      knownState,
      ...(situation.pin ? { directory: { memory: directories, warn } } : {}),
      now: () => Date.now() + clockDays * 86_400_000,
      warn,
    }).resolve()
    return names.map((name) => values[name] ?? '-').join(',')
  }
  if (situation.memory) await fillMemory(stage, attack, read)
  return {
    act: async () => {
      warnings.length = 0
      const honest = honestValues(attack.act)
      try {
        const values = await read(attack.clockDays)
        return outcomeOf({ failed: false, values, told: warnings.join('\n') }, honest)
      } catch (error) {
        return outcomeOf({ failed: true, values: '', told: (error as Error).message }, honest)
      }
    },
    close: async () => {},
  }
}
