import { Code } from '@mantine/core'

/** A value with its line breaks, in a box that scrolls. An empty value keeps the height of a line. */
export function WholeValue({ label, value, maxHeight }: { label: string; value: string; maxHeight: number }) {
  return (
    <Code block aria-label={label} style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all', maxHeight }} tabIndex={0}>
      {value === '' ? ' ' : value}
    </Code>
  )
}
