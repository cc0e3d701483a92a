import { CommittedRefusal } from '../kernel/errors.ts'
import type { SignedDocuments } from '../keys/directory.ts'
import type { Context } from './context.ts'
import type { AnyInput, Route, Work } from './route.ts'

/**
 * Makes the handler of a change that may carry documents of the signed directory. They are taken out of the body, so that no
 * handler sees them, and are stored in the transaction of the change once it is made. A change without them goes through:
 * published clients send none.
 */
export const signing =
  <C extends Context>(context: C, { handle, endpoint }: Route<C>): Route<C>['handle'] =>
  async (input) => {
    const { trust, ...body } = input.body as { trust?: SignedDocuments }
    const signed = openSigned(context, input, trust)
    if (endpoint.unit === 'manual') {
      const answer = await handle({ ...input, body, sign: signed.sign })
      if (!signed.isDone()) throw new Error(`${endpoint.path} did not store what the request signs`)
      return answer
    }
    const answer = await handle({ ...input, body })
    if (!(answer instanceof CommittedRefusal)) await signed.sign(input as unknown as Work)
    return answer
  }

function openSigned(context: Context, { params }: AnyInput, trust: SignedDocuments | undefined) {
  let isDone = trust === undefined
  return {
    isDone: () => isDone,
    async sign(work: Work) {
      if (trust === undefined) return
      await context.signDirectory(context, work, { orgId: params.orgId as string, signed: trust, place: 'body.trust' })
      isDone = true
    },
  }
}
