import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { saveText } from '../ui/save-text.ts'
import { type Column, mergeLayers, sealedParts } from './columns.ts'
import { reloadSealed } from './queries.ts'

/** The result of a download. It names secrets, never values. */
interface Result {
  isSaved: boolean
  remarks: string[]
}

/** Saves the values that programs get in an environment as a `.env` file. It has the same bytes as the export of the CLI. */
export function DownloadDialog(props: { orgId: string; column: Column; onClose: () => void }) {
  const { orgId, column, onClose } = props
  const { name, slug, unreadable, entries } = column
  const [result, setResult] = useState<Result | null>(null)
  const fileName = `${slug}.env`
  const action = useAction(async () => {
    setResult(null)
    const current = await currentEntries(orgId, column)
    // The person has lost a key meanwhile, and the dialog says so.
    if (!current) return
    const layers = sealedParts(current.values())
    await checkMeanings(layers.map(({ environmentId }) => environmentId))
    const file = await keyring.call('writeDotenv', { layers })
    const isSaved = file.impossible.length === 0
    if (isSaved) saveText(fileName, 'text/plain', file.text)
    setResult({ isSaved, remarks: isSaved ? remarksOn(file) : [impossibleText(file.impossible)] })
  })
  return (
    <Dialog opened onClose={onClose} title={`Download the .env file of ${name}`}>
      <Stack>
        <Text size="sm">
          The file holds {entries.size === 1 ? 'one value' : `${entries.size} values`} as plain text. Anybody who gets
          the file can read {entries.size === 1 ? 'it' : 'them'}. Delete the file when you no longer need it.
        </Text>
        <Text className="help">
          It has the values that programs get: groups are merged, and references are expanded.
        </Text>
        {unreadable.length > 0 && (
          <Alert color="orange" variant="light" role="alert">
            You hold no key of {unreadable.join(', ')}, so values would be missing from the file. Ask for access first.
          </Alert>
        )}
        <ProblemAlert error={action.error} />
        {result && <Saved result={result} fileName={fileName} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {result?.isSaved ? 'Done' : 'Cancel'}
          </Button>
          <Button
            loading={action.pending}
            disabled={unreadable.length > 0 || column.loading}
            onClick={() => action.run()}
            data-autofocus
          >
            Download {fileName}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Loads the secrets again, because others may have written since the page loaded. */
async function currentEntries(orgId: string, { layers, environmentId }: Column) {
  const sealed = await Promise.all(layers.map((layer) => reloadSealed(orgId, layer.environmentId)))
  const current = layers.flatMap((layer, i) => (sealed[i] ? [{ ...layer, ...sealed[i] }] : []))
  return current.length === layers.length ? mergeLayers(current, environmentId) : null
}

function Saved({ result: { isSaved, remarks }, fileName }: { result: Result; fileName: string }) {
  return (
    <Stack gap={4} role="status">
      <Text size="sm" fw={500}>
        {isSaved ? `Downloaded ${fileName}.` : 'Nothing was downloaded.'}
      </Text>
      {remarks.length > 0 && (
        <List size="sm">
          {remarks.map((remark) => (
            <List.Item key={remark}>{remark}</List.Item>
          ))}
        </List>
      )}
    </Stack>
  )
}

const remarksOn = ({ remarks, unresolved }: { remarks: string[]; unresolved: string[] }): string[] => [
  ...unresolved.map((name) => `A value refers to ${name}, which does not exist.`),
  ...remarks.map((remark) => `${remark}.`),
]

const impossibleText = (names: string[]): string =>
  `A .env file cannot hold the value of ${names.join(', ')}. Use \`skerry secrets export --format json\`.`
