// The tabs of a browser and the keyring's worker tell each other about the keyring on this channel. No message holds a key.

export type KeyringNews =
  /** A keyring was unlocked. Tabs of its person connect to the worker. */
  | { type: 'opened'; userId: string; worker: string }
  | { type: 'locked' }
  /** Somebody used a tab whose keyring is unlocked. */
  | { type: 'touched' }
  /** A tab has this person signed in. The keyring of anybody else locks. */
  | { type: 'person'; userId: string }

export const openKeyringChannel = () => new BroadcastChannel('skerry-keyring')

/** The keyring locks after this long without use, counted over all tabs. */
export const idleMs = 15 * 60_000

/** When the keyring locks, the worker gets this long to seal unsaved edits before it ends. */
export const sealingMaxMs = 30_000

/** The Web Lock that a worker holds while it is unlocked, so that a new tab finds the worker. */
export const lockNameOf = (userId: string, worker: string) => `skerry-keyring ${userId} ${worker}`

/** Finds the worker with the unlocked keyring of a person. */
export async function findUnlocked(userId: string): Promise<string | undefined> {
  const prefix = lockNameOf(userId, '')
  const { held = [] } = await navigator.locks.query()
  return held
    .map(({ name = '' }) => name)
    .find((name) => name.startsWith(prefix))
    ?.slice(prefix.length)
}

/** Resolves when a worker has locked or ended. */
export const whenLocked = (userId: string, worker: string): Promise<void> =>
  navigator.locks.request(lockNameOf(userId, worker), { mode: 'shared' }, () => {})
