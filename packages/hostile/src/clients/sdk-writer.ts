import { memoryCache } from '@skerry/sdk/cache'
import { createClient } from '@skerry/sdk/client'
import { processMemory } from '@skerry/sdk/internal/directory/memory'
import { createKnownState } from '@skerry/sdk/known-state'
import { environmentKey, putSecret } from '@skerry/sdk/secrets'
import { openToken } from '@skerry/sdk/tokens'
import { fillMemory, type Open, tokenOf } from './client.ts'

/** The secret that the program stores. Each attack keeps it from the honest server. */
export const storedName = 'STORED'

/** A program with the SDK, which stores a secret. */
export const sdkWriter: Open = async (stage, attack, situation) => {
  const { liar, orgId, now } = stage
  const memory = situation.pin ? { memory: processMemory() } : {}
  const { bearer, tokenId, holder } = await openToken(await tokenOf(stage, attack, situation), memory)
  const knownState = createKnownState({ store: memoryCache(), baseUrl: liar.url, principalId: tokenId })
  const client = createClient({ baseUrl: liar.url, credential: { bearer } })
  const place = { orgId, envId: now.scope.envId }
  const open = () => environmentKey(client, place, { ...holder, knownState })
  if (situation.memory) await fillMemory(stage, attack, open)
  return {
    act: async () => {
      try {
        const { dek } = await open()
        await putSecret(client, { ...place, name: storedName }, 'stored', dek)
        return { seen: 'accepted', line: '' }
      } catch (error) {
        // A value that was sent is lost, whatever the server answered.
        return { seen: liar.sent().length === 0 ? 'refused' : 'accepted', line: (error as Error).message }
      }
    },
    close: async () => {},
  }
}
