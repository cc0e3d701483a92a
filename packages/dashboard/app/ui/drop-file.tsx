import { Button, FileButton } from '@mantine/core'
import { type DragEvent, type ReactNode, useState } from 'react'
import { readSecretsFile } from './read-text-file.ts'

/** Takes a text file that is dropped here or chosen. The file is read in this page. */
export function DropFile({ onText, children }: { onText: (text: string) => void; children: ReactNode }) {
  const [isOver, setIsOver] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (file: File | null | undefined) => {
    if (!file) return
    const read = await readSecretsFile(file)
    setProblem('problem' in read ? read.problem : null)
    if ('text' in read) onText(read.text)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same for a keyboard
    <div
      className="drop"
      data-over={isOver || undefined}
      onDragOver={(event: DragEvent) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault()
        setIsOver(false)
        void take(event.dataTransfer.files[0])
      }}
    >
      {children}
      <FileButton onChange={take}>{(props) => <Button {...props}>Choose a file</Button>}</FileButton>
      {problem && <div role="alert">{problem}</div>}
    </div>
  )
}
