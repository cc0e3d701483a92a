import { useState } from 'react'
import type { Change } from './changes.ts'

/** Whether the change would replace a value that programs get now. */
export const replaces = ({ kind }: Pick<Change, 'kind'>): boolean => kind === 'changed' || kind === 'overrides'

export interface Choice {
  /** The chosen names. */
  names: string[]
  isChosen: (change: Change) => boolean
  toggle: (change: Change) => void
  chooseReplaced: (all: boolean) => void
  forget: () => void
}

const none: ReadonlySet<string> = new Set()

/**
 * The choice of changes to store. New names are chosen at first. A name that would replace a value must be chosen by
 * the person.
 */
export function useChoice(changes: Change[]): Choice {
  const [left, setLeft] = useState(none)
  const [replaced, setReplaced] = useState(none)
  const isChosen = (change: Change) =>
    replaces(change) ? replaced.has(change.name) : change.kind === 'added' && !left.has(change.name)
  return {
    names: changes.filter(isChosen).map(({ name }) => name),
    isChosen,
    toggle: (change) => (replaces(change) ? setReplaced : setLeft)((before) => toggled(before, change.name)),
    chooseReplaced: (all) => setReplaced(all ? new Set(changes.filter(replaces).map(({ name }) => name)) : none),
    forget: () => {
      setLeft(none)
      setReplaced(none)
    },
  }
}

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const after = new Set(names)
  if (!after.delete(name)) after.add(name)
  return after
}
