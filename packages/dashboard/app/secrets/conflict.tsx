import { Button, Group, Stack, Text } from '@mantine/core'
import { Dialog } from '../ui/dialog.tsx'
import { useStoredBy } from './stored-by.ts'
import type { Draft, Theirs } from './use-edits.ts'
import { WholeValue } from './whole-value.tsx'

/** Shows both values after two people changed one secret. This person decides which to keep. */
export function ConflictDialog(props: {
  name: string
  environmentId: string
  where: string
  draft: Draft
  theirs: Theirs
  onKeepMine: () => void
  onTakeTheirs: () => void
  onClose: () => void
}) {
  const { name, environmentId, where, draft, theirs, onKeepMine, onTakeTheirs, onClose } = props
  const { opened } = theirs
  const by = useStoredBy(environmentId, name, theirs.version)
  return (
    <Dialog opened onClose={onClose} title={`${name} changed meanwhile`} size="lg">
      <Stack>
        <Text size="sm">
          {opened === null
            ? `Someone deleted it from ${where} while you typed.`
            : `${by} stored version ${theirs.version} in ${where} while you typed. Which value do you want to keep?`}
        </Text>
        <Side title="Mine" value={draft.value} />
        {opened && 'value' in opened && <Side title="Theirs" value={opened.value} />}
        {opened && 'problem' in opened && (
          <Text size="sm" className="matrix-broken">
            Their value cannot be decrypted: it was altered, or encrypted with another key.
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onTakeTheirs}>
            {opened === null ? 'Leave it deleted' : 'Take theirs'}
          </Button>
          <Button onClick={onKeepMine}>Keep mine</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function Side({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {title}
      </Text>
      <WholeValue label={title} value={value} maxHeight={200} />
    </div>
  )
}
