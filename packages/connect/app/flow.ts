import type { VaultSlot } from '@skerry/contract/vault/facts'
import { sealCredential } from '@skerry/crypto/vault'
import type { End } from './end-screens.ts'
import { checkSession, type Executors, NoExecutor, WrongKey } from './executor.ts'
import { type Fragment, isSafeUrl, type NamedExecutor, type Return } from './link.ts'
import { Refused, Unreachable } from './request.ts'
import type { ConnectSession, ManageSession, Server } from './server.ts'
import type { Claim, TabStorage } from './tab-storage.ts'

/** Why a person sees a screen again that they have seen. */
export type Notice = 'changed' | 'denied' | 'failed' | 'other_account'

export type Screen =
  | { at: 'opening' }
  | { at: 'agree'; session: ConnectSession; notice: Notice | null }
  | { at: 'capture'; session: ConnectSession; notice: Notice | null }
  | { at: 'done'; session: ConnectSession }
  | { at: 'manage'; session: ManageSession }
  /** `returnUrl` where the session was read before it ended. */
  | { at: 'end'; end: End; returnUrl: string | null; product: string | null }

/** What the flow stands on, so that tests can stand in for the two servers and the browser. */
export interface FlowDeps {
  server: Server
  executors: Executors
  tabStorage: TabStorage
  /** Of this page, and so of the server. */
  origin: string
  show: (screen: Screen) => void
  go: (url: string) => void
}

/** What a person does. Each may throw Refused or Unreachable, after which the same screen is still there. */
export interface Flow {
  open(fragment: Fragment): Promise<void>
  agree(): Promise<void>
  submit(slot: VaultSlot, text: string, accountLabel?: string): Promise<void>
  startOAuth(): Promise<void>
  /** Where the person signs in; undefined once another screen is shown. */
  startBrowser(): Promise<string | undefined>
  /** @throws Refused 409 while nobody is signed in there. */
  finishBrowser(): Promise<void>
  revoke(connectionId: string): Promise<void>
  /** Back to the product. A session that is still open is cancelled. */
  leave(): Promise<void>
}

interface Connecting {
  claimToken: string
  executor: NamedExecutor
  /** JWK JSON of the key that the link names. */
  publicKeyJwk: string
  session: ConnectSession
}

/** How far the person has come. */
interface Progress {
  connecting: Connecting | null
  managing: Claim | null
  returnUrl: string | null
  outcome: ConnectSession['status'] | null
  product: string | null
}

const atStart: Progress = { connecting: null, managing: null, returnUrl: null, outcome: null, product: null }

interface Work extends FlowDeps {
  progress: Progress
  screens: Screens
}

export function createFlow(deps: FlowDeps): Flow {
  const { server, executors, tabStorage, go } = deps
  const progress = { ...atStart }
  const screens = openScreens(deps, progress)
  const { watch, end, showSession, showEnd, showManaged } = screens
  const work = { ...deps, progress, screens }
  const lookAgain = (refused: unknown) => lookAfterRefusal(work, refused)
  const now = (): Connecting => {
    if (!progress.connecting) throw new Error('no session to connect in')
    return progress.connecting
  }
  return {
    async open(fragment) {
      Object.assign(progress, atStart)
      deps.show({ at: 'opening' })
      await watch(async () => {
        if (fragment.kind === 'link') return claimLink(work, fragment.token, fragment.executor)
        const claim = tabStorage.read()
        if (fragment.kind === 'broken' || !claim) throw new Ended(fragment.kind === 'return' ? 'returned' : 'broken')
        return resume(work, claim, fragment.kind === 'return' ? fragment : null)
      }, true)
    },
    async agree() {
      await watch(async () => {
        const { claimToken, session } = now()
        const agreed = await server.consent(claimToken, session.provider.consentVersion).catch(lookAgain)
        if (agreed) await showSession(agreed)
      })
    },
    async submit(slot, text, accountLabel) {
      await watch(async () => {
        const connecting = now()
        const captured = await capture(connecting, slot, text)
        const labelled = { slots: [captured], ...(accountLabel ? { accountLabel } : {}) }
        const done = await server.submit(connecting.claimToken, labelled).catch(lookAgain)
        if (done) showEnd({ ...connecting.session, status: 'completed' })
      })
    },
    async startOAuth() {
      await watch(async () => {
        const { claimToken, executor } = now()
        const url = await executors.startOAuth(executor, claimToken).catch(lookAgain)
        if (url) go(url)
      })
    },
    async startBrowser() {
      const { claimToken, executor } = now()
      return watch(async () => (await executors.startBrowser(executor, claimToken).catch(lookAgain))?.liveViewUrl)
    },
    async finishBrowser() {
      await watch(async () => {
        const { claimToken, executor } = now()
        const refused = await executors.finishBrowser(executor, claimToken).catch((error: unknown) => error)
        const session = await server.session(claimToken)
        if (session.status === 'pending') throw refused ?? new Refused(409, 'nothing was captured')
        await showSession(session)
      })
    },
    async revoke(connectionId) {
      await watch(async () => {
        const { managing } = progress
        if (managing) showManaged(await server.revoke(managing.claimToken, connectionId))
      })
    },
    async leave() {
      await cancel(work)
      const { returnUrl, outcome } = progress
      if (returnUrl === null) return end('left')
      tabStorage.clear()
      go(outcome === null ? returnUrl : withOutcome(returnUrl, outcome))
    },
  }
}

type Screens = ReturnType<typeof openScreens>

/** Shows what the person sees next, and notes it in the progress. */
function openScreens({ tabStorage, origin, show }: FlowDeps, progress: Progress) {
  /** The server has checked `returnUrl`; here, too, nobody is sent to an origin that the product has not registered. */
  const remember = <S extends ConnectSession | ManageSession>(session: S): S => {
    const { returnUrl: url, display } = session
    const isOwn = url !== null && isSafeUrl(url) && display.returnOrigins.includes(new URL(url).origin)
    progress.returnUrl = isOwn ? url : null
    progress.product = display.name
    return { ...session, returnUrl: progress.returnUrl }
  }

  /** By itself for ends that a person can try again: nothing is spent, and what the tab keeps stays. */
  const stop = (why: End) => {
    const { returnUrl, product } = progress
    show({ at: 'end', end: why, returnUrl, product })
  }

  const end = (why: End) => {
    if (why === 'expired' || why === 'cancelled') progress.outcome = why
    tabStorage.clear()
    stop(why)
  }

  const showEnd = (session: ConnectSession) => {
    progress.outcome = session.status
    if (session.status !== 'completed') return end(session.status === 'expired' ? 'expired' : 'cancelled')
    tabStorage.clear()
    show({ at: 'done', session })
  }

  return {
    end,
    showEnd,
    async showSession(given: ConnectSession, notice: Notice | null = null) {
      const { connecting } = progress
      const session = remember(given)
      progress.outcome = session.status
      if (session.status !== 'pending') return showEnd(session)
      if (!connecting) return
      await checkSession(session, connecting.executor)
      connecting.session = session
      const isAgreed = session.consentedAt !== null && notice !== 'changed'
      show({ at: isAgreed ? 'capture' : 'agree', session, notice })
    },
    showManaged: (session: ManageSession) => show({ at: 'manage', session: remember(session) }),
    /** Shows errors that end the flow as screens, and others too while it opens; afterwards it throws those to the caller. */
    async watch<T>(work: () => Promise<T>, isOpening = false): Promise<T | undefined> {
      try {
        return await work()
      } catch (error) {
        if (error instanceof WrongKey) end('wrong_key')
        else if (error instanceof NoExecutor) end('no_executor')
        else if (error instanceof Ended) end(error.end)
        else if (error instanceof Refused && error.status === 401) end('expired')
        else if (isOpening) stop(error instanceof Unreachable && error.origin !== origin ? 'executor_lost' : 'lost')
        else throw error
        return undefined
      }
    },
  }
}

async function claimLink(work: Work, token: string, executor: NamedExecutor | null): Promise<void> {
  const { server, executors, tabStorage, progress, screens } = work
  // First the executor: a link whose executor cannot be reached is not spent.
  const publicKeyJwk = executor && (await executors.identify(executor))
  const { claimToken, session } = await server.claim(token).catch((error: unknown) => {
    throw error instanceof Refused ? new Ended(endOfClaim(error)) : error
  })
  tabStorage.write({ claimToken, executor })
  if (session.purpose === 'manage') {
    progress.managing = { claimToken, executor: null }
    return screens.showManaged(session)
  }
  if (!executor || !publicKeyJwk) throw new Ended('broken')
  progress.connecting = { claimToken, executor, publicKeyJwk, session }
  await screens.showSession(session)
}

async function resume(work: Work, { claimToken, executor }: Claim, back: Return | null): Promise<void> {
  const { server, executors, progress, screens } = work
  if (!executor) {
    progress.managing = { claimToken, executor }
    return screens.showManaged(await server.manage(claimToken))
  }
  const session = await server.session(claimToken)
  if (session.status !== 'pending') return screens.showSession(session)
  progress.connecting = { claimToken, executor, publicKeyJwk: await executors.identify(executor), session }
  if (back?.outcome !== 'finish') return screens.showSession(session, back?.outcome ?? null)
  const failed = await executors.finishOAuth(executor, claimToken, back.flow).then(
    () => null,
    (error: unknown) => noticeOf(error),
  )
  await screens.showSession(await server.session(claimToken), failed)
}

/** After a refusal: what has become of the session meanwhile. The text may be another, or it may be over. */
async function lookAfterRefusal({ server, progress, screens }: Work, refused: unknown): Promise<void> {
  const { connecting } = progress
  if (!connecting || !(refused instanceof Refused) || refused.status !== 409) throw refused
  const before = connecting.session
  const now = await server.session(connecting.claimToken)
  const isPending = now.status === 'pending'
  // Nothing else can have been refused: the product offers this no more.
  if (isPending && before.consentedAt === null && now.provider.consentVersion === before.provider.consentVersion)
    throw new Ended('paused')
  await screens.showSession(now, isPending ? 'changed' : null)
}

async function capture({ executor, publicKeyJwk, session }: Connecting, slot: VaultSlot, text: string) {
  const { projectId, connectionId, provider, slots } = session
  const revision = slots.find((one) => one.slot === slot)?.revision ?? 1
  const place = { projectId, connectionId, providerId: provider.id, slot, revision }
  const sealed = await sealCredential(text, place, publicKeyJwk)
  return { slot, revision, ...sealed, keyThumbprint: executor.thumbprint }
}

/** A person who wants to go is not kept here: a session that cannot be cancelled expires. */
async function cancel({ server, progress }: Work): Promise<void> {
  if (!progress.connecting || progress.outcome !== 'pending') return
  const left = await server.cancel(progress.connecting.claimToken).catch(() => null)
  progress.outcome = left?.status ?? 'cancelled'
}

/** For the product's page. Anybody can write it into an address: the product asks the server what became of the session. */
function withOutcome(returnUrl: string, outcome: ConnectSession['status']): string {
  const url = new URL(returnUrl)
  url.searchParams.set('vault_outcome', outcome)
  return url.href
}

/** Something that ends the whole page. */
class Ended extends Error {
  readonly end: End

  constructor(end: End) {
    super(end)
    this.name = 'Ended'
    this.end = end
  }
}

/** A repair with another account is one refusal among others: only the words tell which. */
const noticeOf = (error: unknown): Notice =>
  error instanceof Refused && error.message.includes('another account') ? 'other_account' : 'failed'

/** A link that was spent or is over is one status: only the words tell which. */
function endOfClaim({ status, message }: Refused): End {
  if (status === 404) return 'unknown'
  if (status === 429) return 'busy'
  if (message.includes('opened already')) return 'used'
  if (message.includes('expired')) return 'expired'
  if (message.includes('cancelled')) return 'cancelled'
  return 'paused'
}
