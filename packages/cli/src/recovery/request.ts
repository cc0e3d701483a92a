import type { RecoveryRequest } from '@skerry/sdk/recovery'
import type { Grantee } from '@skerry/sdk/secrets'
import { openDirectory } from '../directory.ts'
import { formatAgo } from '../duration.ts'
import { Failure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { lookUpGrantee } from '../grants.ts'
import { type HolderFlags, holderNamed } from '../holder.ts'
import { note, type Output, writeLine } from '../output.ts'
import { eachPage } from '../pages.ts'
import { canonical, compareKeys, wordsOf } from '../pins.ts'
import { mismatchOf } from '../reader-names.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { notSetUp } from './configure.ts'

/**
 * Opens a recovery request. Custodians compare the words of the key with the person it belongs to, not with the person
 * who asks.
 */
export async function request(
  argument: string | undefined,
  { session, flags, orgId }: InOrg<Flags & HolderFlags & { reason?: string }>,
): Promise<Output> {
  const holder = holderNamed(argument, flags)
  const target = holder
    ? await findTarget(session, holder)
    : {
        principalType: session.principal.type,
        principalId: session.principal.id,
        publicKeyJwk: await ownPublicKey(session),
      }
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) throw notSetUp()
  const pending = await findPending(session, orgId, target)
  if (pending) {
    const unchanged = flags.reason === undefined ? '' : '; its reason did not change'
    note(
      `the request that ${await openerName(session, pending)} opened ${formatAgo(pending.createdAt, Date.now())} is still open, so no new one was made${unchanged}`,
    )
    return tellOpened(session, pending)
  }
  const { request } = await session.client.recoveryRequests.open({
    params: { orgId },
    body: {
      targetPublicKeyJwk: target.publicKeyJwk,
      targetType: target.principalType,
      targetId: target.principalId,
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    },
  })
  return tellOpened(session, request)
}

/**
 * Finds the open request for the same person and key, whoever opened it. A second one would divide the shares between the two.
 * The server lists the oldest requests first.
 */
async function findPending(
  { client }: Session,
  orgId: string,
  { principalId, publicKeyJwk }: Pick<Grantee, 'principalId' | 'publicKeyJwk'>,
): Promise<RecoveryRequest | undefined> {
  const isSame = ({ status, drill, targetId, targetPublicKeyJwk }: RecoveryRequest) =>
    status === 'open' && !drill && targetId === principalId && canonical(targetPublicKeyJwk) === canonical(publicKeyJwk)
  for await (const { requests } of eachPage((query) => client.recoveryRequests.list({ params: { orgId }, query }))) {
    const found = requests.find(isSame)
    if (found) return found
  }
  return undefined
}

async function openerName(session: Session, { requestedById }: RecoveryRequest): Promise<string> {
  if (requestedById === session.principal.id) return 'you'
  return (await openDirectory(session, [requestedById]))(requestedById) ?? requestedById
}

/**
 * Wraps nothing to the target, because custodians compare the words of its key before they give their shares. They may
 * ask the admin for the words, so the admin must not see the key of another person or token.
 */
async function findTarget(session: Session, who: { user?: string; token?: string }) {
  const target = await lookUpGrantee(session, who)
  const [unseen] = await compareKeys(session, [target])
  const { id: orgId } = await session.org()
  const isUnknownToken = target.principalType === 'service_token' && target.wantedName !== undefined
  const reason =
    unseen &&
    (mismatchOf(session, orgId, unseen) ??
      (isUnknownToken ? `this machine does not know the token '${target.wantedName}'` : undefined))
  if (reason !== undefined)
    throw new Failure('refused', reason, `compare the id ${target.principalId} with them, then use the id`)
  return target
}

export async function tellOpened(session: Session, request: RecoveryRequest): Promise<Output> {
  const { id, threshold, expiresAt } = request
  const words = await wordsOf(request.targetPublicKeyJwk)
  const who = request.drill ? 'you' : await targetName(session, request)
  note(`ask ${threshold} custodians to run \`skerry recovery contribute ${id}\` before ${notedTime(expiresAt)}`)
  note(`first they compare these words with ${who}, in person or by phone:`)
  note(`  ${words}`)
  return { json: { request, fingerprint: words }, text: () => writeLine(id) }
}

export async function targetName(session: Session, { drill, targetId }: RecoveryRequest): Promise<string> {
  if (drill) return 'a drill'
  return (await openDirectory(session, [targetId]))(targetId) ?? targetId ?? ''
}
