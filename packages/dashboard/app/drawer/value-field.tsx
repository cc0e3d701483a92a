import { Button, Checkbox, FileButton, Group, Text, Textarea } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { readTextFile } from '../ui/read-text-file.ts'

interface Props {
  label: string
  text: string
  readOnly: boolean
  /** Shown below the text. */
  measures: ReactNode
  onText: (text: string) => void
  /** Gets the text of a file, with its own line breaks. */
  onLoad: (text: string) => void
}

/**
 * A text with any number of lines. Lines are numbered while they are not wrapped. One long line, such as a token, is
 * wrapped at first.
 */
export function ValueField({ label, text, readOnly, measures, onText, onLoad }: Props) {
  const [wraps, setWraps] = useState(() => !text.includes('\n'))
  const numbers = useRef<HTMLPreElement>(null)
  return (
    <div className="value-field" data-wraps={wraps || undefined}>
      <Tools {...{ text, readOnly, wraps, onText, onLoad }} onWraps={setWraps} />
      <div className="value-lines">
        {!wraps && (
          <pre ref={numbers} className="line-numbers mono" aria-hidden="true">
            {text.split('\n').map((_, index) => `${index + 1}\n`)}
          </pre>
        )}
        <Textarea
          aria-label={label}
          description={measures}
          inputWrapperOrder={['input', 'description']}
          classNames={{ input: 'mono' }}
          wrap={wraps ? 'soft' : 'off'}
          autosize
          minRows={4}
          maxRows={24}
          autoFocus
          data-autofocus
          value={text}
          readOnly={readOnly}
          onChange={(event) => onText(event.currentTarget.value)}
          onScroll={(event) => numbers.current?.scrollTo({ top: event.currentTarget.scrollTop })}
          spellCheck={false}
          autoComplete="off"
          autoCorrect="off"
          autoCapitalize="off"
        />
      </div>
    </div>
  )
}

function Tools(
  props: Pick<Props, 'text' | 'readOnly' | 'onText' | 'onLoad'> & { wraps: boolean; onWraps: (wraps: boolean) => void },
) {
  const { text, readOnly, wraps, onText, onLoad, onWraps } = props
  const [problem, setProblem] = useState<string | null>(null)
  const formatted = formatJson(text)
  const load = async (file: File | null) => {
    if (!file) return
    const read = await readTextFile(file)
    setProblem('problem' in read ? read.problem : null)
    if ('text' in read) onLoad(read.text)
  }
  return (
    <Group gap="sm" mb="xs">
      <Checkbox label="Wrap lines" checked={wraps} onChange={(event) => onWraps(event.currentTarget.checked)} />
      <FileButton onChange={load} disabled={readOnly}>
        {(button) => (
          <Button size="xs" variant="subtle" disabled={readOnly} {...button}>
            Load a file
          </Button>
        )}
      </FileButton>
      {formatted !== null && formatted !== text && (
        <Button size="xs" variant="subtle" disabled={readOnly} onClick={() => onText(formatted)}>
          Format JSON
        </Button>
      )}
      {problem && (
        <Text size="sm" role="alert">
          {problem}
        </Text>
      )}
    </Group>
  )
}

const longestJson = 200_000

/** Returns true for a text that looks like a JSON object or array. */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text) && text.length <= longestJson

/**
 * Returns the text with one line for each member. Returns null if it is not JSON, or if writing it again would change a
 * number, a repeated name or an escape.
 */
function formatJson(text: string): string | null {
  if (!looksLikeJson(text)) return null
  try {
    const value: unknown = JSON.parse(text)
    if (JSON.stringify(value) !== withoutBlanks(text)) return null
    return `${JSON.stringify(value, null, 2)}${text.endsWith('\n') ? '\n' : ''}`
  } catch {
    return null
  }
}

/** Removes the blanks of a JSON text that are outside of its strings. */
const withoutBlanks = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
