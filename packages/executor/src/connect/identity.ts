import type { Executor } from '../executor.ts'
import { answer } from '../http/server.ts'
import { registered } from '../keys/keys.ts'

/** For the Connect page: every key, so that it can check the one that its link names. */
export async function published({ origin, keys }: Executor) {
  const all = (await keys()).map((key, at) => ({ ...registered(key), current: at === 0 }))
  return answer({ origin, keys: all })
}

/** For the backend, which puts it into links. */
export async function identity({ origin, keys }: Executor) {
  const [{ thumbprint }] = await keys()
  return answer({ origin, thumbprint })
}
