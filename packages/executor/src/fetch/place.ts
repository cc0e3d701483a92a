import { type Headers, isNamed } from '@skerry/proxy/headers'
import { type Fillable, fill, type ValueOf } from '@skerry/proxy/placeholders'
import type { Provider } from '../config/config.ts'
import { fail } from '../http/refusal.ts'

/**
 * Replaces the placeholders of a request by the credential. A request without one gets it in the provider's header.
 *
 * @param name of the placeholder for the credential of the connection
 * @throws VaultRefusal `invalid_request` for a request that sets this header itself.
 */
export function place(asked: Fillable, { sentAs }: Provider, name: string, give: ValueOf): Fillable {
  let isPlaced = false
  const filled = fill(asked, (wanted) => {
    isPlaced = true
    return give(wanted)
  })
  if (isPlaced) return filled
  const { header, scheme } = sentAs
  if (asked.headers.some(([one]) => isNamed(one, header.toLowerCase())))
    throw fail(
      'invalid_request',
      `request.headers: ${header} is set by the executor: leave it out, or put {{skerry:${name}}} in it`,
    )
  const own: Headers[number] = [header, `${scheme} {{skerry:${name}}}`.trimStart()]
  return fill({ ...asked, headers: [...asked.headers, own] }, give)
}
