import type { Executor } from '../executor.ts'
import { answer } from '../http/server.ts'
import { registered } from '../keys/keys.ts'

/** Returns every key to the Connect page, which checks the one that its link names. */
export async function published({ origin, keys }: Executor) {
  const all = (await keys()).map((key, at) => ({ ...registered(key), current: at === 0 }))
  return answer({ origin, keys: all })
}

/** Returns the current key to the backend, which puts it into links. */
export async function identity({ origin, keys }: Executor) {
  const [{ thumbprint }] = await keys()
  return answer({ origin, thumbprint })
}
