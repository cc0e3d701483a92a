/** Saves a text as a file on the person's device. The text is forgotten once the browser has read it. */
export function saveText(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  // The browser has read the URL by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
