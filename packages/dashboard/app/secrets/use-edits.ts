import { UnavailableError } from '@skerry/sdk/errors'
import { useRouteContext } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { checkMeanings } from '../envs/meanings.ts'
import { KeyringError, keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import { Cancelled } from '../prompts.ts'
import { showErrorToast, showToast } from '../ui/toast.ts'
import type { Written } from './changes.ts'
import type { Column } from './columns.ts'
import { findArrived, forgetLost, noteLost } from './lost-writes.ts'
import { reloadSealed } from './queries.ts'
import {
  dropShown,
  isInUse,
  isSending,
  keep,
  keepFailed,
  keepShown,
  sealUnsaved,
  take,
  type Unsaved,
  useUnsaved,
  whileSending,
} from './unsaved.ts'
import { isConflict, writeSecret } from './write.ts'

/** The value that someone else stored meanwhile. `opened` is null if they deleted it. */
export interface Theirs {
  version: number
  opened: { value: string } | { problem: string } | null
}

/** A value that is being typed. It stays until it is stored or cancelled, even if the network fails. */
export interface Draft {
  value: string
  /** The stored value, or null if there is none or it cannot be decrypted. */
  stored: string | null
  /** The text when the edit began, or null if the edit was kept sealed and is shown again. */
  begun: string | null
  /** The editor is in the secret's drawer and not in the cell. */
  isInDrawer: boolean
  wrappedDek: string
  baseVersion: number
  note: string
  saving: boolean
  error: unknown
  theirs: Theirs | null
}

/** The drafts of one row, by environment ID. */
export type RowDrafts = Readonly<Record<string, Draft>>
export type Drafts = ReadonlyMap<string, RowDrafts>

const none: Drafts = new Map()

/** Whether the change can still be stored by another attempt. */
export const isUnsaved = ({ error }: Draft) => error instanceof UnavailableError

const isChanged = ({ value, stored }: Draft) => value !== stored

/** A cell has room for one short line. */
const isLong = (value: string) => value.length > 60 || value.includes('\n')

const untouched = { saving: false, error: null, theirs: null }

export function useEdits(orgId: string, columns: Column[]) {
  const [drafts, setDrafts] = usePlaintext<Drafts>(none)
  const latest = useRef(drafts)
  latest.current = drafts

  const change = useCallback(
    (environmentId: string, name: string, to: (draft: Draft | undefined) => Draft | undefined) =>
      setDrafts((before) => {
        const { [environmentId]: draft, ...others } = before.get(name) ?? {}
        const changed = to(draft)
        const row = changed ? { ...others, [environmentId]: changed } : others
        const after = new Map(before)
        if (Object.keys(row).length === 0) after.delete(name)
        else after.set(name, row)
        return after
      }),
    [setDrafts],
  )
  const { me } = useRouteContext({ from: '/_app' })
  const userId = me.user?.id ?? ''
  const store = useMemo(() => createEdits({ orgId, userId }, latest, change), [orgId, userId, change])
  useWarnBeforeLeaving(latest)
  const waiting = useOutliving(latest, { orgId, userId, columns, change })
  return { drafts, waiting, ...store }
}

type Change = (environmentId: string, name: string, to: (draft: Draft | undefined) => Draft | undefined) => void
type Latest = { current: Drafts }

interface Ids {
  orgId: string
  userId: string
}

/** Changes the draft of a cell, or ends it. */
interface OfDraft {
  update: (column: Column, name: string, some: Partial<Draft>) => void
  cancel: (column: Column, name: string) => void
}

interface Outliving extends Ids {
  columns: Column[]
  change: Change
}

/** Keeps unsaved edits sealed when the keyring locks or the page is left. Returns how many are kept. */
function useOutliving(latest: Latest, { orgId, userId, columns, change }: Outliving): number {
  useEffect(() => {
    const sealAll = () => {
      const drafts = latest.current
      latest.current = none
      return Promise.all(
        [...drafts].flatMap(([name, row]) =>
          Object.entries(row)
            .filter(([environmentId, draft]) => isChanged(draft) && !(draft.saving && isSending(environmentId, name)))
            .map(([environmentId, { value, wrappedDek, baseVersion, note }]) =>
              sealUnsaved({ userId, environmentId, name, value, wrappedDek, baseVersion, note }),
            ),
        ),
      )
    }
    const stop = keyring.beforeLock(sealAll)
    return () => {
      stop()
      void sealAll()
    }
  }, [latest, userId])
  const all = useUnsaved()
  const unlocked = useUnlocked()
  const mine = useMemo(
    () =>
      all.filter(
        (one) =>
          one.userId === userId &&
          !isInUse(one) &&
          columns.some((column) => column.environmentId === one.environmentId),
      ),
    [all, userId, columns],
  )
  useEffect(() => {
    if (!unlocked || mine.length === 0) return
    take(mine)
    for (const edit of mine) void reopen(orgId, edit, change)
  }, [unlocked, mine, change, orgId])
  return mine.length
}

/**
 * Shows a kept edit again. If it was sent without an answer, the server is asked about it first, so that it is not sent
 * twice.
 */
async function reopen(orgId: string, edit: Unsaved, change: Change): Promise<void> {
  const { environmentId, name, wrappedDek, ciphertext, baseVersion, note } = edit
  try {
    if (edit.isSent) {
      noteLost(edit)
      const arrived = await findArrived(orgId, edit).catch(() => null)
      if (arrived !== null) {
        forgetLost([edit])
        return tellSaved(name, arrived)
      }
    }
    const value = await keyring.call('openSecret', { wrappedDek, environmentId, name, ciphertext })
    const kept = { value, stored: null, begun: null, isInDrawer: isLong(value), wrappedDek, baseVersion, note }
    change(environmentId, name, () => ({ ...kept, ...untouched }))
  } catch (error) {
    if (error instanceof KeyringError && error.code === 'locked') return keep(edit)
    showErrorToast(`The unsaved edit of ${name} cannot be decrypted`, 'It is lost. Type it again.')
  }
}

function tellSaved(name: string, result: Written): void {
  if (result === 'queued') showToast(`The change of ${name} waits for approval.`)
}

/** Returns an edit of a secret whose value is `value`, or null if there is none or it cannot be decrypted. */
function newDraft(column: Column, name: string, value: string | null): Draft {
  const entry = column.entries.get(name)
  const text = value ?? ''
  return {
    value: text,
    begun: text,
    stored: entry?.own ? value : null,
    isInDrawer: false,
    wrappedDek: column.own?.wrappedDek ?? '',
    baseVersion: entry?.own ? entry.secret.version : 0,
    note: '',
    ...untouched,
  }
}

function createEdits(ids: Ids, latest: Latest, change: Change) {
  const update = (column: Column, name: string, some: Partial<Draft>) =>
    change(column.environmentId, name, (draft) => draft && { ...draft, ...some })
  const cancel = (column: Column, name: string) => {
    dropShown({ userId: ids.userId, environmentId: column.environmentId, name })
    change(column.environmentId, name, () => undefined)
  }
  const { save, meet } = createSave(ids, latest, { update, cancel })
  return {
    /**
     * Begins an edit, or continues one. `value` is the current value, or null. Returns whether the editor is in the
     * drawer: a long text is always edited there.
     */
    begin: (column: Column, name: string, value: string | null, isInDrawer: boolean): boolean => {
      const draft = latest.current.get(name)?.[column.environmentId] ?? newDraft(column, name, value)
      const place = { isInDrawer: isInDrawer || isLong(draft.value) }
      change(column.environmentId, name, (now) => ({ ...(now ?? draft), ...place }))
      return place.isInDrawer
    },
    /** Ends an edit in which nothing was typed. */
    leave: (column: Column, name: string) => {
      const draft = latest.current.get(name)?.[column.environmentId]
      if (draft && !draft.saving && draft.value === draft.begun) cancel(column, name)
    },
    update,
    cancel,
    save,
    /** Decrypts what another person stored meanwhile. Returns false if this person typed the same value. */
    compare: async (column: Column, name: string): Promise<boolean> => {
      const draft = latest.current.get(name)?.[column.environmentId]
      if (draft && !draft.theirs) await meet(column, name, draft.value)
      // Waits until the state above is applied.
      await new Promise((applied) => setTimeout(applied))
      return latest.current.get(name)?.[column.environmentId]?.theirs != null
    },
    /** Overwrites the other person's value with this person's. */
    keepMine: (column: Column, name: string, theirs: Theirs) => {
      update(column, name, { theirs: null, baseVersion: theirs.version })
      // Waits until the state above is applied.
      setTimeout(() => void save(column, name))
    },
  }
}

/** Returns the functions that store an edit, and that show what another person stored first. */
function createSave({ orgId, userId }: Ids, latest: Latest, { update, cancel }: OfDraft) {
  async function save(column: Column, name: string): Promise<void> {
    const draft = latest.current.get(name)?.[column.environmentId]
    if (!draft || draft.saving || !column.own) return
    if (!isChanged(draft)) return cancel(column, name)
    // Until an answer comes, it is unknown which value is stored.
    update(column, name, { saving: true, stored: null, error: null })
    const isLive = () => latest.current.get(name)?.[column.environmentId] !== undefined
    try {
      const sealed = await seal(userId, column, name, draft, column.own.wrappedDek)
      // If the page was left or the keyring locked meanwhile, the edit is already kept and must not be sent as well.
      if (!isLive()) return
      await send(orgId, sealed, isLive)
      cancel(column, name)
    } catch (error) {
      if (!isLive()) return
      if (!isConflict(error))
        return update(column, name, { saving: false, error: error instanceof Cancelled ? null : error })
      await meet(column, name, draft.value)
    }
  }

  /** Handles a conflict: someone else stored a value first, or the answer to an earlier attempt got lost. */
  async function meet(column: Column, name: string, mine: string): Promise<void> {
    try {
      const sealed = await reloadSealed(orgId, column.environmentId)
      const secret = sealed?.secrets.get(name)
      if (!sealed || !secret) return update(column, name, { saving: false, theirs: { version: 0, opened: null } })
      const secrets = [{ name, ciphertext: secret.ciphertext }]
      const layer = { wrappedDek: sealed.wrappedDek, environmentId: column.environmentId, secrets }
      const [opened = { problem: 'internal' }] = await keyring.call('openEach', layer)
      if ('value' in opened && opened.value === mine) return cancel(column, name)
      update(column, name, { saving: false, theirs: { version: secret.version, opened } })
    } catch (error) {
      update(column, name, { saving: false, error })
    }
  }

  return { save, meet }
}

async function seal(
  userId: string,
  { environmentId }: Column,
  name: string,
  { value, note, baseVersion }: Draft,
  wrappedDek: string,
): Promise<Unsaved> {
  await checkMeanings([environmentId])
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  return { userId, environmentId, name, wrappedDek, ciphertext, baseVersion, note }
}

/** Sends an edit, even if the page is left meanwhile. If that fails and no page shows the edit, it is kept. */
async function send(orgId: string, edit: Unsaved, isLive: () => boolean): Promise<void> {
  try {
    tellSaved(edit.name, await whileSending(edit, () => writeSecret({ orgId, ...edit })))
  } catch (error) {
    const isSent = error instanceof UnavailableError
    if (!isLive()) keepFailed({ ...edit, isSent })
    else if (isSent) keepShown({ ...edit, isSent })
    throw error
  }
}

/** Asks before the page is closed with unsaved values, because they would be lost. */
function useWarnBeforeLeaving(latest: { current: Drafts }) {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if ([...latest.current.values()].some((row) => Object.values(row).some(isChanged))) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [latest])
}
