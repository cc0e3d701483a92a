import { Stack, Text, TextInput } from '@mantine/core'
import { readRenaming, sendRenaming } from '@skerry/sdk/secret-history'
import { useState } from 'react'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { Cancelled } from '../prompts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { describeProblem } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { type Column, type Layer, sealedPart } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { reloadSealed, type Secret } from './queries.ts'
import { newNameProblem } from './secret-name.ts'

/** An environment that stores the secret itself. */
interface Place {
  column: Column
  own: Layer
  secret: Secret
}

interface Report {
  /** The environments in which it has the new name. */
  renamed: string[]
  failed: { where: string; error: unknown }[]
  /** Things that still use the former name, as sentences. */
  remaining: string[]
}

const nothing: Report = { renamed: [], failed: [], remaining: [] }

/** Renames a secret in every environment that stores it, one after the other. */
export function RenameSecretDialog(props: { orgId: string; columns: Column[]; name: string; onClose: () => void }) {
  const { orgId, columns, name, onClose } = props
  const [newName, setNewName] = useState('')
  const [report, setReport] = useState(nothing)
  const places = placesOf(columns, name)
  const open = places.filter(({ column }) => !column.isProtected)
  const guarded = places.filter(({ column }) => column.isProtected)
  const problem = newNameProblem(
    newName,
    open.map(({ column }) => column),
  )
  const rename = async () => {
    const result = await renameEach(orgId, open, newName)
    setReport(result)
    if (result.renamed.length > 0) showToast(`Renamed ${name} to ${newName} in ${result.renamed.join(', ')}.`)
    // The dialog stays open, so that the person can read what is left to do.
    if (result.failed.length + result.remaining.length > 0) throw new Cancelled()
  }
  return (
    <FormDialog
      title={`Rename ${name}`}
      submit="Rename"
      onClose={onClose}
      onSubmit={rename}
      disabled={newName === '' || problem !== null || open.length === 0}
    >
      <TextInput
        label="New name"
        placeholder={name}
        classNames={{ input: 'mono' }}
        value={newName}
        error={problem}
        onChange={(event) => setNewName(event.currentTarget.value.trim())}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <LoadingNames names={[newName]} />
      {open.length > 0 && (
        <Text size="sm">
          In {open.map(({ column }) => column.name).join(', ')}. The history and the description stay with the secret.
          Programs get the value under the new name alone.
        </Text>
      )}
      {guarded.length > 0 && (
        <Text size="sm">
          {guarded.map(({ column }) => column.name).join(', ')} needs approvals, so nothing is renamed there. Propose
          the new secret and the deletion of {name}.
        </Text>
      )}
      <ReportText report={report} />
    </FormDialog>
  )
}

function ReportText({ report: { failed, remaining } }: { report: Report }) {
  if (failed.length + remaining.length === 0) return null
  return (
    <Stack gap={4} role="alert">
      {failed.map(({ where, error }) => (
        <Text size="sm" key={where} className="matrix-broken">
          Not renamed in {where}: {describeProblem(error).title}
        </Text>
      ))}
      {remaining.map((sentence) => (
        <Text size="sm" key={sentence}>
          {sentence}
        </Text>
      ))}
    </Stack>
  )
}

const placesOf = (columns: Column[], name: string): Place[] =>
  columns.flatMap((column) => {
    const entry = column.entries.get(name)
    return column.own && entry?.own ? [{ column, own: column.own, secret: entry.secret }] : []
  })

/** Renames in one environment after the other. A failure in one does not stop the others. */
async function renameEach(orgId: string, places: Place[], newName: string): Promise<Report> {
  const report: Report = { renamed: [], failed: [], remaining: [] }
  for (const place of places) {
    const { name: where, environmentId } = place.column
    try {
      report.remaining.push(...(await renameIn(orgId, place, newName)))
      report.renamed.push(where)
    } catch (error) {
      // The report still names the environments that were renamed before.
      if (error instanceof Cancelled && report.renamed.length === 0) throw error
      report.failed.push({ where, error })
      if (error instanceof Cancelled) break
    }
    await reloadSealed(orgId, environmentId)
  }
  return report
}

/** Returns sentences about what still uses the former name there. */
async function renameIn(orgId: string, { column, own, secret }: Place, newName: string): Promise<string[]> {
  const { name } = secret
  const { wrappedDek, environmentId, secrets } = own
  await checkMeanings([environmentId])
  const referring = await keyring.call('referringTo', { ...sealedPart(own, [...secrets.values()]), to: name })
  const renaming = await readRenaming(api, orgId, secret)
  const sealed = await keyring.call('sealRenaming', { wrappedDek, renaming, newName })
  const { namedBy } = await sendRenaming(api, orgId, renaming, newName, sealed)
  return [
    ...unprovenSentences(sealed.unproven, column.name, newName),
    ...(referring.length > 0
      ? [`Values in ${column.name} still refer to \${${name}}: ${referring.join(', ')}. Change them.`]
      : []),
    ...namedBy.map((one) => namedBySentence(one, name)),
  ]
}

function unprovenSentences(versions: number[], where: string, name: string): string[] {
  if (versions.length === 0) return []
  const [them, are] = versions.length === 1 ? ['version', 'is'] : ['versions', 'are']
  return [
    `In ${where}, nothing proves that ${them} ${versions.join(', ')} ${are} of ${name}: the record of its former names did not fit.`,
  ]
}

type NamedBy = Awaited<ReturnType<typeof sendRenaming>>['namedBy'][number]

function namedBySentence({ type, name: other }: NamedBy, name: string): string {
  if (type === 'agent') return `The policy of ${other ?? 'an agent'} still allows ${name}. Publish another policy.`
  if (type === 'sync_binding')
    return `A sync binding of ${other ?? 'a connection'} still names ${name} in its patterns. Change them.`
  return `A change request about ${name} can no longer be applied.`
}
