import { CliLoginCode } from '@skerry/contract/schema'
import { type Context, instant } from '../../http/context.ts'
import { fail } from '../../http/errors.ts'
import type { Access } from '../../http/route.ts'
import { upsertTry } from './store.ts'

/** Codes that do not exist, which one person or one address may try in an hour. There are 20^8 codes. */
export const wrongCodesMax = 20
const windowSeconds = 3600

/**
 * Bounds guessing, whether or not rate limits are on: tries are counted in the database, for all servers, before anything
 * is told of a code, and stay counted although the request is refused.
 */
export const guarded = <S extends object, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `guarded(${base.name})`,
  before: async (call, params, body) => {
    await base.before?.(call, params, body)
    const code = params.code ?? (body as { code?: unknown } | undefined)?.code
    if (typeof code === 'string' && codeForm.test(code))
      await countTry(call.context, call.principal?.id ?? call.ipAddress, code)
  },
  resolve: base.resolve,
})

const codeForm = new RegExp((CliLoginCode as typeof CliLoginCode & { pattern: string }).pattern)

async function countTry(context: Context, triedBy: string, code: string): Promise<void> {
  const now = instant(context)
  const since = new Date(Date.parse(now) - windowSeconds * 1000).toISOString()
  const { tries, startedAt } = await upsertTry(context.db, triedBy, code, now, since)
  if (tries <= wrongCodesMax) return
  const endsAt = Date.parse(startedAt) + windowSeconds * 1000
  const seconds = Math.max(1, Math.ceil((endsAt - Date.parse(now)) / 1000))
  throw fail('rate_limited', `too many wrong codes; try again in ${seconds} s`, { retryAfterSeconds: seconds })
}
