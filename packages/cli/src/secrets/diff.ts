import { exitCodes, type Failure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { maskedValue, note, type Output, printable, writeTable } from '../output.ts'
import { inOrder } from '../parallel.ts'
import { findPlace, listPlaces, parsePlace } from '../places.ts'
import { select } from '../selection.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import type { Source } from './sources.ts'
import { hintStored, kindOf, type View, viewValues } from './values.ts'

interface Options extends Flags, View {
  reveal?: boolean
  exitCode?: boolean
}

/** Compares the values that programs get in two environments. They are compared on this machine, in plaintext. */
export async function diff(
  left: string | undefined,
  right: string | undefined,
  { session, flags }: SignedIn<Options>,
): Promise<Output> {
  if (left === undefined || right === undefined) throw await bothNeeded(session, left)
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

/** Says how to name two environments, with an example of those that the caller can read. */
async function bothNeeded(session: Session, left: string | undefined): Promise<Failure> {
  const what = left === undefined ? 'the two environments to compare are missing' : 'the second environment is missing'
  const labels = (await listPlaces(session)).filter(({ canDecrypt }) => canDecrypt).map(({ label }) => label)
  const [first = left ?? 'development', second = 'production'] =
    left === undefined ? labels : [left, ...labels.filter((label) => label !== left && label.split('/')[1] !== left)]
  return usage(what, `name both, for example \`skerry secrets diff ${first} ${second}\``)
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
