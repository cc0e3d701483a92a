import { readFileSync } from 'node:fs'
import { Failure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import type { AtPlace } from '../frame.ts'
import { memoryFolder, privateFolder } from '../leases/private-folder.ts'
import { checkSecretName } from '../names.ts'
import { orNearestOf } from '../nearest.ts'
import { isTerminal, note, type Output, warn } from '../output.ts'
import type { Place } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import { type Editor, findEditor, runEditor } from '../run/editor.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { type Applied, applyChanges, type Deletion, tryChanges } from './apply.ts'
import { readEditText, writeEditText } from './edit-text.ts'
import { type Change, makePlan, namesOf } from './plan.ts'
import { checkProposable, isProtected, refuseIfProtected } from './protection.ts'
import type { Queueing } from './queued.ts'
import { refuseCycles } from './references.ts'
import { checkValue, listSecrets, type StoredSecret, storedSecrets } from './values.ts'

interface Options extends Flags, Queueing {
  dryRun?: boolean
}

/** Opens the stored texts of an environment in the user's editor, and writes what has changed. */
export async function edit(
  _given: string[],
  { session, flags, place, input: { names, editor } }: AtPlace<Options, typeof parseEdit>,
): Promise<Output> {
  await refuseIfProtected(session, place, flags)
  const stored = await storedSecrets(session, place)
  const shown = pickShown(stored, names, place)
  const { text, leftOut } = writeEditText(shown, place.label)
  for (const name of leftOut) {
    warn(`${name} is not shown, because a .env file cannot hold its value; write it with \`skerry secrets set\``)
    shown.delete(name)
  }
  const memory = memoryFolder()
  if (memory === undefined)
    warn('this system has no folder in memory: while you edit, the values are in a file on disk')
  const name = `${place.label.replace(/[^a-z0-9-]/g, '-')}.env`
  const folder = await privateFolder(new Map([[name, text]]), memory)
  try {
    const file = { editor, path: folder.paths[name]! }
    const edited = await editUntilRead(session, place, file, { stored, shown })
    return await writeEdited(session, place, file, edited, { ...flags, present: stored.length })
  } finally {
    folder.remove()
  }
}

export function parseEdit(_flags: Options, given: string[]) {
  const names = [...new Set(given.map(checkSecretName))]
  if (!canAsk() || !isTerminal.stdout())
    throw usage('secrets edit needs a terminal', 'in a script, use `skerry secrets set` or `skerry secrets import`')
  return { names, editor: findEditor(process.env) }
}

interface EditedFile {
  editor: Editor
  path: string
}

/** The differences between the edited text and the stored texts. */
interface Edited {
  added: Change[]
  changed: Change[]
  deleted: Deletion[]
}

function pickShown(stored: StoredSecret[], names: string[], { label }: Place): Values {
  const values: Values = new Map(stored.map(({ name, value }) => [name, value]))
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0)
    throw new Failure(
      'notFound',
      `${label} does not store ${missing.join(', ')}`,
      orNearestOf(
        missing,
        [...values.keys()],
        'add the secret as a line in `skerry secrets edit`, or with `skerry secrets set`',
      ),
    )
  return names.length === 0 ? values : new Map(names.map((name) => [name, values.get(name)!]))
}

/** Runs the editor until the text can be stored, or the user stops. */
async function editUntilRead(
  session: Session,
  place: Place,
  { editor, path }: EditedFile,
  before: { stored: StoredSecret[]; shown: Values },
): Promise<Edited> {
  for (;;) {
    await runEditor(editor, path)
    const { values, mistakes } = readEditText(readEdited(path))
    for (const { line, message } of mistakes) note(`line ${line}: ${message}`)
    if (mistakes.length === 0) {
      const edited = compare(values, before)
      const refusal = await checkEdited(session, place, edited)
      if (!refusal) return edited
      note(refusal.message)
    }
    if (!(await ask('Edit again?'))) throw new Failure('failure', 'nothing was changed')
  }
}

function readEdited(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch {
    throw new Failure('failure', 'the editor has removed the file; nothing was changed')
  }
}

function compare(values: Values, { stored, shown }: { stored: StoredSecret[]; shown: Values }): Edited {
  const { added, changed } = makePlan(values, stored)
  const deleted = stored
    .filter(({ name }) => shown.has(name) && !values.has(name))
    .map(({ name, version }) => ({ name, expectedVersion: version }))
  return { added, changed, deleted }
}

/** Returns the reason why a value cannot be stored. */
async function checkEdited(session: Session, place: Place, { added, changed }: Edited): Promise<Failure | undefined> {
  const values = new Map([...added, ...changed].map(({ name, value }) => [name, value]))
  try {
    for (const [name, value] of values) checkValue(name, value)
    await refuseCycles(session, place, values, 'change one of them')
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error
    throw error
  }
}

async function writeEdited(
  session: Session,
  place: Place,
  file: EditedFile,
  { added, changed, deleted }: Edited,
  flags: Options & { present: number },
): Promise<Output> {
  const puts = [...added, ...changed]
  const { new: news, changed: changes } = namesOf({ added, changed, unchanged: [] })
  const gone = deleted.map(({ name }) => name)
  const report = {
    environment: { id: place.envId, label: place.label },
    new: news,
    changed: changes,
    deleted: gone,
  }
  const count = puts.length + gone.length
  if (count === 0) {
    note(`you changed nothing, so ${place.label} stays as it is`)
    return { json: { ...report, written: [], queued: [] } }
  }
  note(`${place.label}: ${news.length} new, ${changes.length} changed, ${gone.length} deleted`)
  for (const name of news) note(`  + ${name}`)
  for (const name of changes) note(`  ~ ${name}`)
  for (const name of gone) note(`  - ${name}`)
  if (flags.dryRun) {
    const { written, queued } = await tryChanges(session, place, { puts, present: flags.present }, flags)
    return { json: { ...report, written, queued } }
  }
  const waits = await isProtected(session, place)
  if (waits) checkProposable(count)
  const question = waits ? `Propose this as one change of ${place.label}?` : `Write this to ${place.label}?`
  if (!(await ask(question))) throw new Failure('failure', 'nothing was changed')
  await refuseMoved(session, place, file, [...puts, ...deleted])
  const applied = await applyChanges(session, place, { puts, deletes: deleted }, flags)
  tell(applied, place)
  return { json: { ...report, written: applied.written, queued: applied.queued } }
}

/** Refuses to write over what somebody else has written since the editor was opened. */
async function refuseMoved(session: Session, place: Place, file: EditedFile, changes: Deletion[]): Promise<void> {
  const versions = new Map((await listSecrets(session, place)).map(({ name, version }) => [name, version]))
  const moved = changes.filter(({ name, expectedVersion }) => (versions.get(name) ?? 0) !== expectedVersion)
  if (moved.length === 0) return
  const names = moved.map(({ name }) => name).join(', ')
  note(`someone else changed ${names} while you edited, so nothing is written`)
  if (await ask('Open your text once more, to copy from it?')) await runEditor(file.editor, file.path)
  throw new Failure(
    'conflict',
    `${names} in ${place.label} changed while you edited; nothing was written`,
    'run `skerry secrets edit` again, which shows the current values',
  )
}

function tell({ written, deleted, queued }: Applied, { label }: Place): void {
  const [first] = queued
  if (first) note(`proposed as ${first.groupId ?? first.changeRequestId}; it is approved as a whole`)
  const parts = [
    ...(written.length > 0 ? [`wrote ${written.map(({ name }) => name).join(', ')}`] : []),
    ...(deleted.length > 0 ? [`deleted ${deleted.join(', ')}`] : []),
  ]
  if (parts.length > 0) note(`${parts.join('; ')} in ${label}`)
}
