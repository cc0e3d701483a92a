import { Alert, Checkbox, Paper, Stack, Text } from '@mantine/core'
import type { Checked } from './pins.ts'

/** Shows a key's fingerprint as words, and asks whether the person has compared them. */
export function Fingerprint(props: {
  holder: string
  checked: Checked
  compared: boolean
  onCompared: (compared: boolean) => void
}) {
  const { holder, checked, compared, onCompared } = props
  const { words, status } = checked
  return (
    <Stack gap="xs">
      {status === 'changed' && (
        <Alert color="red" variant="light" title="The key has changed" role="alert">
          Someone may be showing you their own key instead. Continue only if {holder} told you, outside of Skerry, that
          they made a new key, and if the words match.
        </Alert>
      )}
      <Words words={words} label={`Fingerprint of the key of ${holder}`} />
      {status === 'verified' ? (
        <Text size="xs" c="dimmed">
          You compared this key before, in this browser.
        </Text>
      ) : (
        <Checkbox
          size="sm"
          label={`I compared these words with ${holder}`}
          description="Compare them over the phone or in person. A malicious server could show you its own key here, and then read everything that you share."
          checked={compared}
          onChange={(event) => onCompared(event.currentTarget.checked)}
        />
      )}
    </Stack>
  )
}

/** Shows the words of a key that this browser sees for the first time, for a dialog whose button confirms them. */
export function FirstWords({ name, words }: { name: string; words: string }) {
  return (
    <>
      <Text size="sm">
        Ask {name} to read their 12 words to you, over the phone or in person. A malicious server could show you its own
        key here, and then read everything that you share.
      </Text>
      <Words words={words} label={`Fingerprint of the key of ${name}`} />
    </>
  )
}

export function Words({ words, label }: { words: string; label: string }) {
  return (
    <Paper p="sm">
      <Text className="mono" aria-label={label} style={{ wordSpacing: '0.35em', lineHeight: 1.7 }}>
        {words}
      </Text>
    </Paper>
  )
}
