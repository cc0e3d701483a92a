import { Button, Group, Select } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { usePlaintext } from '../keyring.ts'
import { type EnvironmentWithAccess, useColumns } from '../secrets/use-columns.ts'
import { DropFile } from '../ui/drop-file.tsx'

// Loaded when it first opens.
const PasteDialog = lazy(async () => ({ default: (await import('../secrets/paste.tsx')).PasteDialog }))

/**
 * Stores a `.env` file in one of the environments that this person can read; development is chosen first. `onPasting`
 * learns when its dialog opens and closes. The caller must keep this mounted while it is open.
 */
export function BringSecrets(props: { environments: EnvironmentWithAccess[]; onPasting: (isOpen: boolean) => void }) {
  const { environments, onPasting } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const all = useColumns(org.id, environments, environments)
  const isLoading = all.some(({ loading, error }) => loading && !error)
  const columns = all.filter(({ own }) => own !== null)
  const first = columns.find(({ slug }) => slug === 'development') ?? columns[0]
  const [chosen, setChosen] = useState<string | null>(null)
  const column = columns.find(({ environmentId }) => environmentId === chosen) ?? first
  const [isOpen, setOpen] = useState(false)
  // The dropped file. Locking the keyring forgets it.
  const [text, setText] = usePlaintext('')
  const open = (given: string) => {
    // From now on, the file belongs to this environment, whatever loads meanwhile.
    setChosen(column?.environmentId ?? null)
    setText(given)
    setOpen(true)
    onPasting(true)
  }
  const close = () => {
    setText('')
    setOpen(false)
    onPasting(false)
  }
  // Development may load last. Until then, another one must not stand in for it.
  if (isLoading && chosen === null) return <div className="help">Loading…</div>
  if (!column) return <div className="help">You hold no key of this application’s environments.</div>
  return (
    <>
      <DropFile onText={open}>
        <div>
          <strong>Drop a .env or JSON file here.</strong> Its values are encrypted in this browser before anything is
          sent.
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
        <Button variant="default" onClick={() => open('')}>
          Paste its text
        </Button>
      </Group>
      <Suspense>{isOpen && <PasteDialog orgId={org.id} column={column} text={text} onClose={close} />}</Suspense>
    </>
  )
}
