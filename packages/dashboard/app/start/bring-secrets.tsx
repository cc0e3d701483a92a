import { Button, Group, Select } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type EnvironmentWithAccess, useColumns } from '../secrets/use-columns.ts'
import { DropFile } from '../ui/drop-file.tsx'
import { useDialog } from '../ui/use-dialog.ts'

// Loaded when it first opens.
const PasteDialog = lazy(async () => ({ default: (await import('../secrets/paste.tsx')).PasteDialog }))

/** Stores a `.env` file in one of the environments that this person can read; development is chosen first. */
export function BringSecrets({ environments }: { environments: EnvironmentWithAccess[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const columns = useColumns(org.id, environments, environments).filter(({ own }) => own !== null)
  const first = columns.find(({ slug }) => slug === 'development') ?? columns[0]
  const [chosen, setChosen] = useState<string | null>(null)
  const column = columns.find(({ environmentId }) => environmentId === chosen) ?? first
  const pasting = useDialog<string>()
  if (!column) return <div className="help">You hold no key of this application’s environments.</div>
  return (
    <>
      <DropFile onText={pasting.open}>
        <div>
          <strong>Drop a .env file here.</strong> Its values are encrypted in this browser before anything is sent.
        </div>
      </DropFile>
      <Group mt="md" gap="sm">
        <Select
          aria-label="Environment"
          allowDeselect={false}
          data={columns.map(({ environmentId, name }) => ({ value: environmentId, label: `Into ${name}` }))}
          value={column.environmentId}
          onChange={setChosen}
        />
        <Button variant="default" onClick={() => pasting.open('')}>
          Paste its text
        </Button>
      </Group>
      <Suspense>
        {pasting.show((onClose, text) => (
          <PasteDialog orgId={org.id} column={column} text={text} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}
