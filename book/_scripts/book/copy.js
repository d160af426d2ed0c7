{
  const { find, findAll, make } = book;

  // A button that copies the code of a cell.
  for (const box of findAll("div.highlight").filter((box) => !box.closest(".cell_output"))) {
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(find("pre", box).textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    box.append(button);
  }
}
