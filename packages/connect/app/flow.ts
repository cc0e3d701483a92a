import type { VaultSlot } from '@skerry/contract/vault/facts'
import { sealCredential } from '@skerry/crypto/vault'
import type { End } from './end-screens.ts'
import { checkSession, type Executors, NoExecutor, WrongKey } from './executor.ts'
import { type Fragment, isSafeUrl, type NamedExecutor, type Return } from './link.ts'
import { Refused, Unreachable } from './request.ts'
import type { ConnectSession, ManageSession, Server } from './server.ts'
import type { Claim, TabStorage } from './tab-storage.ts'

/** The reason why a person sees a screen a second time. */
export type Notice = 'changed' | 'denied' | 'failed' | 'other_account'

export type Screen =
  | { at: 'opening' }
  | { at: 'agree'; session: ConnectSession; notice: Notice | null }
  | { at: 'capture'; session: ConnectSession; notice: Notice | null }
  | { at: 'done'; session: ConnectSession }
  | { at: 'manage'; session: ManageSession }
  /** `returnUrl` is null unless the session was read before it ended. */
  | { at: 'end'; end: End; returnUrl: string | null; product: string | null }

/** The dependencies of the flow. Tests replace the two servers and the browser. */
export interface FlowDeps {
  server: Server
  executors: Executors
  tabStorage: TabStorage
  /** The origin of this page, which is the server's too. */
  origin: string
  show: (screen: Screen) => void
  go: (url: string) => void
}

/** The actions of a person. Each may throw Refused or Unreachable; the page then still shows the same screen. */
export interface Flow {
  open(fragment: Fragment): Promise<void>
  agree(): Promise<void>
  submit(slot: VaultSlot, text: string, accountLabel?: string): Promise<void>
  startOAuth(): Promise<void>
  /** @returns the URL where the person signs in; undefined if another screen is shown instead. */
  startBrowser(): Promise<string | undefined>
  /** @throws Refused 409 while nobody is signed in to the site. */
  finishBrowser(): Promise<void>
  revoke(connectionId: string): Promise<void>
  /** Returns to the product and cancels a session that is still open. */
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

/** Shows the next screen and records it in the progress. */
function openScreens({ tabStorage, origin, show }: FlowDeps, progress: Progress) {
  /** The server has checked `returnUrl`. This page checks again that the product has registered its origin. */
  const remember = <S extends ConnectSession | ManageSession>(session: S): S => {
    const { returnUrl: url, display } = session
    const isOwn = url !== null && isSafeUrl(url) && display.returnOrigins.includes(new URL(url).origin)
    progress.returnUrl = isOwn ? url : null
    progress.product = display.name
    return { ...session, returnUrl: progress.returnUrl }
  }

  /** Called directly for ends after which the person can try again: it keeps the tab's storage. */
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
    /**
     * Shows errors that end the flow as screens. It shows other errors only while the page opens, and later throws
     * them.
     */
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
  // The executor is asked first, so that a link is not used up while its executor cannot be reached.
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

/** Reads the session again after a refusal. The consent text may have changed, or the session may be over. */
async function lookAfterRefusal({ server, progress, screens }: Work, refused: unknown): Promise<void> {
  const { connecting } = progress
  if (!connecting || !(refused instanceof Refused) || refused.status !== 409) throw refused
  const before = connecting.session
  const now = await server.session(connecting.claimToken)
  const isPending = now.status === 'pending'
  // The consent text is the same, so the product must have stopped to offer this provider.
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

/** Ignores errors, so that a person can always leave: a session that cannot be cancelled expires. */
async function cancel({ server, progress }: Work): Promise<void> {
  if (!progress.connecting || progress.outcome !== 'pending') return
  const left = await server.cancel(progress.connecting.claimToken).catch(() => null)
  progress.outcome = left?.status ?? 'cancelled'
}

/**
 * Adds the outcome for the product's page. Anybody can forge it, so the product asks the server how the session ended.
 */
function withOutcome(returnUrl: string, outcome: ConnectSession['status']): string {
  const url = new URL(returnUrl)
  url.searchParams.set('vault_outcome', outcome)
  return url.href
}

/** An error that ends the flow. */
class Ended extends Error {
  readonly end: End

  constructor(end: End) {
    super(end)
    this.name = 'Ended'
    this.end = end
  }
}

/** The refusal of a repair with another account has no code of its own, so its message is compared. */
const noticeOf = (error: unknown): Notice =>
  error instanceof Refused && error.message.includes('another account') ? 'other_account' : 'failed'

/** Used, expired and cancelled links have the same status, so the message is compared. */
function endOfClaim({ status, message }: Refused): End {
  if (status === 404) return 'unknown'
  if (status === 429) return 'busy'
  if (message.includes('already opened')) return 'used'
  if (message.includes('expired')) return 'expired'
  if (message.includes('cancelled')) return 'cancelled'
  return 'paused'
}
