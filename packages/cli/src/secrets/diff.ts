import { exitCodes } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { maskedValue, note, type Output, printable, writeTable } from '../output.ts'
import { inOrder } from '../parallel.ts'
import { findPlace, parsePlace } from '../places.ts'
import { select } from '../selection.ts'
import type { Flags } from '../settings.ts'
import type { Source } from './sources.ts'
import { hintStored, kindOf, type View, viewValues } from './values.ts'

interface Options extends Flags, View {
  reveal?: boolean
  exitCode?: boolean
}

/** Compares the values that programs get in two environments. They are compared on this machine, in plaintext. */
export async function diff(left: string, right: string, { session, flags }: SignedIn<Options>): Promise<Output> {
  const named = [left, right].map(parsePlace)
  const [a, b] = await inOrder(named.map((name) => findPlace(session, name)))
  const views = await inOrder([a!, b!].map((place) => hintStored(viewValues(session, place, flags), session, place)))
  const [valuesA, valuesB] = views.map((view) => select(view, {})) as [Map<string, string>, Map<string, string>]
  const names = [...new Set([...valuesA.keys(), ...valuesB.keys()])].sort()
  const differing = names.filter((name) => valuesA.get(name) !== valuesB.get(name))
  const same = names.length - differing.length
  if (flags.exitCode && differing.length > 0) process.exitCode = exitCodes.failure
  const [sourcesA, sourcesB] = views.map(({ sources }) => sources) as [Sources, Sources]
  const rows = differing.map((name) => ({ name, left: valuesA.get(name), right: valuesB.get(name) }))
  const secrets = rows.map((row) => ({
    name: row.name,
    state: stateOf(row),
    leftSource: sourcesA[row.name] ?? null,
    rightSource: sourcesB[row.name] ?? null,
    ...(flags.reveal ? valuesOf(row) : {}),
  }))
  const cell = (value: string | undefined) => {
    if (value === undefined) return '-'
    return flags.reveal ? printable(value) : maskedValue
  }
  return {
    json: { left: a!.label, right: b!.label, same, secrets },
    text: () => {
      if (rows.length > 0)
        writeTable(
          ['name', a!.label, b!.label],
          rows.map((row) => [row.name, cell(row.left), cell(row.right)]),
        )
      note(`${differing.length} differ, ${same} are the same`)
    },
  }
}

export const checkDiff = (flags: Options): void => void kindOf(flags)

type Sources = Readonly<Record<string, Source>>

interface Row {
  name: string
  left: string | undefined
  right: string | undefined
}

function stateOf({ left, right }: Row): 'only-left' | 'only-right' | 'different' {
  if (left === undefined) return 'only-right'
  return right === undefined ? 'only-left' : 'different'
}

const valuesOf = ({ left, right }: Row) => ({ left: left ?? null, right: right ?? null })
